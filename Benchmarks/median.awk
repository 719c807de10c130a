# The median of numbers that spaces part. Awk takes it before the file of a table: -f median.awk -f table.awk.
function median(values, count,    i, j, swap, parts) {
    split(values, parts, " ")
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && parts[j - 1] + 0 > parts[j] + 0; j--) {
            swap = parts[j]; parts[j] = parts[j - 1]; parts[j - 1] = swap
        }
    return count % 2 ? parts[(count + 1) / 2] : (parts[count / 2] + parts[count / 2 + 1]) / 2
}
