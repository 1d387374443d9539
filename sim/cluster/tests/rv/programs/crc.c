/* CRC-32 of bytes, by a table made at run time and by single bits; both must agree. */
typedef unsigned int u32;
typedef unsigned char u8;

static u32 table[256];

static u32 bitwise(u32 crc, u8 byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    return crc;
}

u32 run(const u8 *bytes, u32 len_bytes)
{
    for (u32 i = 0; i < 256; i++)
        table[i] = bitwise(0, (u8)i);
    u32 fast = ~0u, slow = ~0u;
    for (u32 i = 0; i < len_bytes; i++) {
        fast = fast >> 8 ^ table[(fast ^ bytes[i]) & 255];
        slow = bitwise(slow, bytes[i]);
    }
    return fast == slow ? ~fast : 0;
}
