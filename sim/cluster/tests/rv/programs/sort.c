/* Sorts words in place with a recursive quicksort; small pieces by insertion. */
typedef unsigned int u32;

static void insertion(u32 *words, int count)
{
    for (int i = 1; i < count; i++) {
        u32 word = words[i];
        int j = i;
        for (; j > 0 && words[j - 1] > word; j--)
            words[j] = words[j - 1];
        words[j] = word;
    }
}

static void quick(u32 *words, int count)
{
    if (count < 12) {
        insertion(words, count);
        return;
    }
    u32 pivot = words[count / 2];
    int i = 0, j = count - 1;
    while (i <= j) {
        while (words[i] < pivot)
            i++;
        while (words[j] > pivot)
            j--;
        if (i <= j) {
            u32 word = words[i];
            words[i++] = words[j];
            words[j--] = word;
        }
    }
    quick(words, j + 1);
    quick(words + i, count - i);
}

u32 run(u32 *words, u32 len_bytes)
{
    quick(words, (int)(len_bytes / 4));
    return words[0];
}
