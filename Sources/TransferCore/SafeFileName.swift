/// Functions that make names from servers and URLs safe as one component of a path.
public enum SafeFileName {
    /// The longest name in bytes that most file systems allow. Prefixes and suffixes must fit too.
    private static let maxBytes = 255

    /// Returns the last component of `name` with unsafe characters replaced by `_`: those that could leave the folder,
    /// hide the file, or confuse a terminal or another system.
    ///
    /// - Returns: `nil` where nothing usable is left (`""`, `"."`, `".."`, `"/"`).
    public static func make(_ name: some StringProtocol) -> String? {
        if isPlain(name) { return String(name) }
        // A backslash separates too, since names from Windows contain it.
        //
        // Scalars are used because a slash with a combining mark is a different Character, but still a slash for the
        // kernel.
        guard let component = name.unicodeScalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else {
            return nil
        }
        var safe = String(String.UnicodeScalarView(component.map { isSafe($0) ? $0 : "_" }))
        while let first = safe.first, first == " " { safe.removeFirst() }
        while let last = safe.last, last == " " || last == "." { safe.removeLast() }
        guard !safe.isEmpty else { return nil }
        if safe.utf8.first == UInt8(ascii: ".") { safe = "_" + String(safe.unicodeScalars.dropFirst()) }
        if isReserved(safe) { safe = "_" + safe }
        return FittedName.shortened(safe, limit: maxBytes)
    }

    /// Returns whether a name needs no change, as nearly all names.
    private static func isPlain(_ name: some StringProtocol) -> Bool {
        var count = 0
        for byte in name.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: break
            case 0x2E where count > 0: break
            default: return false
            }
            count += 1
        }
        return count > 4 && count <= 200 && !isReserved(String(name)) && !name.hasSuffix(".")
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x20, 0x7F...0x9F: false
        // Bidirectional overrides turn `txt.exe` into `exe.txt` on display, and zero-width characters make two names
        // look alike.
        case 0x200B...0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: false
        default: !#":*?"<>|"#.unicodeScalars.contains(scalar)
        }
    }

    /// Returns whether a name is a device name of Windows, since shared folders may be read from there.
    private static func isReserved(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.lowercased()
        if ["con", "prn", "aux", "nul"].contains(stem) { return true }
        return stem.count == 4 && (stem.hasPrefix("com") || stem.hasPrefix("lpt")) && stem.last?.isNumber == true
    }
}
