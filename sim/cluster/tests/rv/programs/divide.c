/* Replaces pairs of 64-bit numbers by sums of their quotients and remainders, unsigned and signed. */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

u32 run(u64 *pairs, u32 len_bytes)
{
    u64 sum = 0;
    for (u32 i = 0; i < len_bytes / 16; i++) {
        u64 a = pairs[2 * i], b = pairs[2 * i + 1] | 1;
        i64 signed_a = (i64)a, signed_b = (i64)b >> (a & 31) | 1;
        if (signed_b == -1)
            signed_b = 3;
        pairs[2 * i] = a / b * 3 + (u64)(signed_a / signed_b);
        pairs[2 * i + 1] = a % b + (u64)(signed_a % signed_b) + a * b;
        sum += pairs[2 * i] ^ pairs[2 * i + 1];
    }
    return (u32)(sum ^ sum >> 32);
}
