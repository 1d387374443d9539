//! The rules that join the channels.

use std::fmt;

/// Who broke a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Culprit {
    Master,
    Slave,
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Master => "a fault of the master",
            Self::Slave => "a fault of the slave",
        })
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// Addresses and data of writes without a response.
    addresses: u64,
    datas: u64,
    /// Reads without data.
    reads: u64,
}

impl Rules {
    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// An address of a write was transferred.
    pub(super) fn write_address(&mut self) {
        self.addresses += 1;
    }

    /// Data of a write was transferred.
    pub(super) fn write_data(&mut self) {
        self.datas += 1;
    }

    /// An address of a read was transferred.
    pub(super) fn read_address(&mut self) {
        self.reads += 1;
    }

    /// A response to a write is on the bus.
    pub(super) fn response_offered(&self, code: u8) -> Result<(), String> {
        if self.addresses == 0 && self.datas == 0 {
            return Err("there is a response, and no write waits for one".to_owned());
        }
        if self.addresses == 0 {
            return Err("there is a response before the address of its write".to_owned());
        }
        if self.datas == 0 {
            return Err("there is a response before the data of its write".to_owned());
        }
        check_code("BRESP", code)
    }

    /// The response was transferred.
    pub(super) fn response_taken(&mut self) {
        self.addresses = self.addresses.saturating_sub(1);
        self.datas = self.datas.saturating_sub(1);
    }

    /// Data of a read is on the bus.
    pub(super) fn data_offered(&self, code: u8) -> Result<(), String> {
        if self.reads == 0 {
            return Err("there is data, and no read waits for it".to_owned());
        }
        check_code("RRESP", code)
    }

    /// The data was transferred.
    pub(super) fn data_taken(&mut self) {
        self.reads = self.reads.saturating_sub(1);
    }

    /// Writes of which an address or data was transferred, and no response.
    pub(super) fn writes_under_way(&self) -> u64 {
        self.addresses.max(self.datas)
    }

    /// Reads that wait for data.
    pub(super) fn reads_under_way(&self) -> u64 {
        self.reads
    }
}

/// There are no exclusive accesses in AXI4-Lite.
fn check_code(name: &str, code: u8) -> Result<(), String> {
    if code == 1 {
        return Err(format!("{name} is EXOKAY, which AXI4-Lite does not have"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Rules;

    #[test]
    fn a_response_comes_behind_address_and_data() {
        let mut rules = Rules::default();
        assert!(rules.response_offered(0).unwrap_err().contains("no write waits"));
        rules.write_data();
        assert!(
            rules
                .response_offered(0)
                .unwrap_err()
                .contains("before the address")
        );
        assert_eq!(rules.writes_under_way(), 1);
        rules.write_address();
        rules.response_offered(2).unwrap();
        rules.write_address();
        rules.response_taken();
        assert!(rules.response_offered(0).unwrap_err().contains("before the data"));
        assert_eq!(rules.writes_under_way(), 1);
        rules.reset();
        assert_eq!(rules.writes_under_way(), 0);
    }

    #[test]
    fn data_is_for_a_read() {
        let mut rules = Rules::default();
        assert!(rules.data_offered(0).unwrap_err().contains("no read waits"));
        rules.read_address();
        rules.data_offered(3).unwrap();
        assert_eq!(rules.reads_under_way(), 1);
        rules.data_taken();
        assert!(rules.data_offered(3).is_err());
    }

    #[test]
    fn nothing_is_exclusive() {
        let mut rules = Rules::default();
        rules.read_address();
        rules.write_address();
        rules.write_data();
        assert!(rules.data_offered(1).unwrap_err().starts_with("RRESP is EXOKAY"));
        assert!(
            rules
                .response_offered(1)
                .unwrap_err()
                .starts_with("BRESP is EXOKAY")
        );
    }
}
