//! The page in Chromium: what it shows, and that it fits.

use super::{Watched, report};
use spinneret_skip::skip;
use std::path::Path;
use std::process::{Command, Stdio};

/// What Chromium makes of an address: the document after its scripts have run, and what they complained about.
fn browse(address: &str, width: u32) -> Option<(String, String)> {
    let profile = tempfile::tempdir().expect("there is room");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},900"))
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
        ])
        .arg(address)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaints = text(&output.stderr);
    let complaints = complaints.lines().filter(|line| line.contains("CONSOLE"));
    Some((text(&output.stdout), complaints.collect::<Vec<_>>().join("\n")))
}

/// The text of a cell or another element, wherever it is.
fn shows(document: &str, text: &str) -> bool {
    document.contains(&format!(">{text}<"))
}

#[test]
fn a_saved_report_shows_everything_and_fits() {
    let folder = tempfile::tempdir().expect("there is room");
    let report = report(folder.path());
    for width in [1280, 400] {
        let framed = framed(&report, width);
        let address = format!("file://{}", framed.display());
        let Some((document, complaints)) = browse(&address, width) else {
            return skip(
                "a_saved_report_shows_everything_and_fits",
                &"there is no chromium",
            );
        };
        assert_eq!(complaints, "");
        assert!(
            document.contains(&format!("data-fits=\"{width} {width}\"")),
            "{width}: {document:.400}"
        );
        for text in [
            "finished",
            "cycles p50",
            "22",
            "faults_ph",
            "illegal instruction",
            "ingress.matched",
            "1.7",
        ] {
            assert!(shows(&document, text), "{text}: {document}");
        }
        // Lines of source come with faults, and what handlers print.
        assert!(document.contains("faults/faults.c:"), "{document}");
        assert!(document.contains("no fault 1"), "{document}");
    }
}

/// The report with a script that says how wide it is and how wide it may be; Chromium has no windows as narrow as a
/// telephone, so the document is made narrow.
fn framed(report: &Path, width: u32) -> std::path::PathBuf {
    let page = std::fs::read_to_string(report).expect("it was written");
    let narrow = format!("<style>html {{ width: {width}px; }} main {{ container-type: normal; }}</style>");
    let probe = "<script>document.documentElement.dataset.fits = \
         `${document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth : \
         document.documentElement.offsetWidth} ${Math.max(...[...document.querySelectorAll('section, header')]\
         .map(part => Math.ceil(part.getBoundingClientRect().right)), document.documentElement.offsetWidth)}`</script>";
    let framed = report.with_file_name(format!("framed-{width}.html"));
    let page = page.replace("</head>", &format!("{narrow}</head>"));
    std::fs::write(&framed, page.replace("</body>", &format!("{probe}</body>"))).expect("there is room");
    framed
}

#[test]
fn a_run_is_shown_while_it_goes() {
    let watched = Watched::start(&[super::ICMP, "--generate", "icmp,size=98,rate=1Gbps,count=1e6"]);
    let address = format!("http://127.0.0.1:{}{}", watched.port, watched.root);
    let Some((document, complaints)) = browse(&address, 1280) else {
        watched.interrupt();
        return skip("a_run_is_shown_while_it_goes", &"there is no chromium");
    };
    assert_eq!(complaints, "");
    for text in ["icmp_ping", "running", "wire in", "to handlers"] {
        assert!(shows(&document, text), "{text}: {document}");
    }
    watched.interrupt();
}
