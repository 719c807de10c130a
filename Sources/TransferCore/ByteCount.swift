/// The text form of byte counts: K, M, G and T are powers of 1024, as in curl, aria2 and rclone.
public enum ByteCount {
    /// Parses `"10M"`, `"512K"`, `"1.5G"`, `"2MiB"` or plain `"4096"`.
    ///
    /// - Returns: The number of bytes; `nil` where the text is no byte count or exceeds `Int64.max`.
    public static func parse(_ text: some StringProtocol) -> Int64? {
        var digits = Substring(text)
        var unit = ""
        while let last = digits.last, last.isLetter {
            unit.insert(last, at: unit.startIndex)
            digits.removeLast()
        }
        let power: Int
        switch unit.uppercased() {
        case "", "B": power = 0
        case "K", "KB", "KIB": power = 1
        case "M", "MB", "MIB": power = 2
        case "G", "GB", "GIB": power = 3
        case "T", "TB", "TIB": power = 4
        default: return nil
        }
        // Double would also parse hexadecimal numbers and exponents.
        guard digits.first != ".", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
            let value = Double(digits)
        else { return nil }
        let bytes = (0..<power).reduce(value) { product, _ in product * 1024 }
        guard bytes < 9.2e18 else { return nil }
        return Int64(bytes)
    }

    /// Returns a count with three significant digits and a binary unit: `212 KiB`, `1.21 GiB`, `61.7 MiB`.
    public static func format(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = 0
        // A value of 1023.5 would round up to "1024 KiB", so the next unit is used before that.
        while value >= 999.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(threeDigits(value)) \(units[unit])"
    }

    private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    private static func threeDigits(_ value: Double) -> String {
        let decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        let scale = decimals == 2 ? 100.0 : decimals == 1 ? 10.0 : 1.0
        let scaled = Int64((value * scale).rounded())
        guard decimals > 0 else { return "\(scaled)" }
        let fraction = String(scaled % Int64(scale))
        return "\(scaled / Int64(scale))." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
