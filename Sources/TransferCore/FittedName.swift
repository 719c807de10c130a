/// Functions that extend names without exceeding the length that a file system allows.
public enum FittedName {
    /// Returns the name with a suffix. If that is too long, the name is cut, and a digest of the whole name replaces
    /// the rest. The same name always gives the same result, and different names give different ones.
    ///
    /// - Parameter limit: The maximum length of the result in bytes, at least 64.
    public static func make(_ name: some StringProtocol, _ suffix: String, limit: Int) -> String {
        let whole = name + suffix
        guard whole.utf8.count > limit else { return whole }
        let rest = "~\(digest(name))\(suffix)"
        return cut(name, limit - rest.utf8.count) + rest
    }

    /// Returns `stem.1.ext` for `stem.ext`; where that is too long, the stem is cut.
    ///
    /// - Parameter limit: The maximum length of the result in bytes, at least 64.
    public static func numbered(_ name: some StringProtocol, _ number: Int, limit: Int) -> String {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let whole = "\(name[..<dot]).\(number)\(name[dot...])"
        guard whole.utf8.count > limit else { return whole }
        let (stem, suffix) = split(name)
        let rest = ".\(number)\(suffix)"
        return cut(stem, limit - rest.utf8.count) + rest
    }

    /// Returns the name with its stem cut where it is too long; the extension stays.
    public static func shortened(_ name: some StringProtocol, limit: Int) -> String {
        guard name.utf8.count > limit else { return String(name) }
        let (stem, suffix) = split(name)
        var kept = cut(stem, limit - suffix.utf8.count)
        // Some systems drop a dot or a blank at the end of a name, which gives another name.
        while suffix.isEmpty, kept.utf8.count > 1, kept.hasSuffix(".") || kept.hasSuffix(" ") { kept.removeLast() }
        return kept + suffix
    }

    /// Splits a name at the last dot, if the rest is short enough for an extension.
    private static func split<Name: StringProtocol>(_ name: Name) -> (stem: Name.SubSequence, suffix: Name.SubSequence)
    {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let isExtension = name[dot...].utf8.count <= longestExtension
        return isExtension ? (name[..<dot], name[dot...]) : (name[...], name[name.endIndex...])
    }

    private static let longestExtension = 16

    /// Returns as many whole characters as fit; of a single longer character, as many whole code points.
    private static func cut(_ text: some StringProtocol, _ bytes: Int) -> String {
        let text = Substring(text)
        var end = text.utf8.index(text.startIndex, offsetBy: bytes, limitedBy: text.endIndex) ?? text.endIndex
        if end == text.endIndex { return String(text) }
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        let whole = text.indices.last { $0 <= end } ?? text.startIndex
        return String(text[..<(whole == text.startIndex ? end : whole)])
    }

    /// Returns the FNV-1a hash with 64 bits, which is the same in every process.
    private static func digest(_ name: some StringProtocol) -> String {
        let value = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let hex = String(value, radix: 16)
        return String(repeating: "0", count: 16 - hex.utf8.count) + hex
    }
}
