/// Names made of another name and what is put behind it or into it, that are no longer than a file system takes.
public enum FittedName {
    /// The name with something behind it. Where that is too long, the name is cut, and a digest of the whole stands in for
    /// the rest: the same name gives the same one again, and no other name gives it.
    ///
    /// - Parameter limit: Bytes that the result may have, at least 64.
    public static func make(_ name: some StringProtocol, _ suffix: String, limit: Int) -> String {
        let whole = name + suffix
        guard whole.utf8.count > limit else { return whole }
        let rest = "~\(digest(name))\(suffix)"
        return cut(name, limit - rest.utf8.count) + rest
    }

    /// `stem.1.ext` of `stem.ext`; where that is too long, the end of the stem makes room.
    ///
    /// - Parameter limit: Bytes that the result may have, at least 64.
    public static func numbered(_ name: some StringProtocol, _ number: Int, limit: Int) -> String {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let whole = "\(name[..<dot]).\(number)\(name[dot...])"
        guard whole.utf8.count > limit else { return whole }
        let (stem, suffix) = split(name)
        let rest = ".\(number)\(suffix)"
        return cut(stem, limit - rest.utf8.count) + rest
    }

    /// The name, with the end of its stem left out where it's too long; its extension stays.
    public static func shortened(_ name: some StringProtocol, limit: Int) -> String {
        guard name.utf8.count > limit else { return String(name) }
        let (stem, suffix) = split(name)
        var kept = cut(stem, limit - suffix.utf8.count)
        // A dot or a blank at a name's end is dropped by some systems, which makes it another name.
        while suffix.isEmpty, kept.utf8.count > 1, kept.hasSuffix(".") || kept.hasSuffix(" ") { kept.removeLast() }
        return kept + suffix
    }

    /// An extension is the short rest behind the last dot.
    private static func split<Name: StringProtocol>(_ name: Name) -> (stem: Name.SubSequence, suffix: Name.SubSequence)
    {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let isExtension = name[dot...].utf8.count <= longestExtension
        return isExtension ? (name[..<dot], name[dot...]) : (name[...], name[name.endIndex...])
    }

    private static let longestExtension = 16

    /// As many whole characters as fit; of one that is longer than that, as many whole code points.
    private static func cut(_ text: some StringProtocol, _ bytes: Int) -> String {
        let text = Substring(text)
        var end = text.utf8.index(text.startIndex, offsetBy: bytes, limitedBy: text.endIndex) ?? text.endIndex
        if end == text.endIndex { return String(text) }
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        let whole = text.indices.last { $0 <= end } ?? text.startIndex
        return String(text[..<(whole == text.startIndex ? end : whole)])
    }

    /// FNV-1a, 64 bits: the same in every process.
    private static func digest(_ name: some StringProtocol) -> String {
        let value = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let hex = String(value, radix: 16)
        return String(repeating: "0", count: 16 - hex.utf8.count) + hex
    }
}
