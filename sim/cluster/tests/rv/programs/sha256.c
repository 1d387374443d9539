/* SHA-256 (FIPS 180-4) of some bytes; the digest replaces the first 32 bytes. */
typedef unsigned int u32;
typedef unsigned char u8;

static u32 constants[64];
static u32 state[8];

static u32 rotate(u32 word, int by)
{
    return word >> by | word << (32 - by);
}

/* The first 32 bits behind the point of the square or cube root of n, by bisection on whole numbers. */
static u32 root(u32 n, int cube)
{
    u32 whole = 1;
    while ((cube ? (whole + 1) * (whole + 1) * (whole + 1) : (whole + 1) * (whole + 1)) <= n)
        whole++;
    u32 fraction = 0;
    for (int bit = 31; bit >= 0; bit--) {
        u32 guess = fraction | 1u << bit;
        /* (whole + guess / 2^32) ^ 2 or ^ 3 against n, with 64 bits behind the point kept exactly. */
        unsigned long long x = (unsigned long long)whole << 32 | guess;
        u32 limbs[5] = {(u32)x, (u32)(x >> 32), 0, 0, 0};
        for (int power = 1; power < (cube ? 3 : 2); power++) {
            u32 product[5] = {0, 0, 0, 0, 0};
            for (int i = 0; i < 4; i++) {
                unsigned long long carry = 0;
                for (int j = 0; j < 2 && i + j < 5; j++) {
                    carry += (unsigned long long)limbs[i] * (j ? (u32)(x >> 32) : (u32)x) + product[i + j];
                    product[i + j] = (u32)carry;
                    carry >>= 32;
                }
                if (i + 2 < 5)
                    product[i + 2] += (u32)carry;
            }
            for (int i = 0; i < 5; i++)
                limbs[i] = product[i];
        }
        if (limbs[cube ? 3 : 2] < n)
            fraction = guess;
    }
    return fraction;
}

static void prepare(void)
{
    u32 found = 0;
    for (u32 n = 2; found < 64; n++) {
        u32 prime = 1;
        for (u32 d = 2; d * d <= n; d++)
            prime &= n % d != 0;
        if (!prime)
            continue;
        if (found < 8)
            state[found] = root(n, 0);
        constants[found++] = root(n, 1);
    }
}

static void block(const u8 *bytes)
{
    u32 w[64], v[8];
    for (int t = 0; t < 16; t++)
        w[t] = (u32)bytes[4 * t] << 24 | bytes[4 * t + 1] << 16 | bytes[4 * t + 2] << 8 | bytes[4 * t + 3];
    for (int t = 16; t < 64; t++)
        w[t] = w[t - 16] + w[t - 7] + (rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3)
             + (rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10);
    for (int i = 0; i < 8; i++)
        v[i] = state[i];
    for (int t = 0; t < 64; t++) {
        u32 one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6]))
                + constants[t] + w[t];
        u32 two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22))
                + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int i = 7; i > 0; i--)
            v[i] = v[i - 1];
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

u32 run(u8 *bytes, u32 len_bytes)
{
    u8 last[128];
    u32 done = 0;
    prepare();
    for (; len_bytes - done >= 64; done += 64)
        block(bytes + done);
    u32 rest = len_bytes - done, padded = rest < 56 ? 64 : 128;
    for (u32 i = 0; i < padded; i++)
        last[i] = i < rest ? bytes[done + i] : i == rest ? 0x80 : 0;
    for (int i = 0; i < 4; i++)
        last[padded - 1 - i] = (u8)(len_bytes * 8 >> 8 * i);
    for (u32 i = 0; i < padded; i += 64)
        block(last + i);
    for (int i = 0; i < 32; i++)
        bytes[i] = (u8)(state[i / 4] >> (24 - 8 * (i % 4)));
    return state[0];
}
