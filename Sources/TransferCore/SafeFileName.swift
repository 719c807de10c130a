/// Names that servers and URLs supply, made safe to use as one component of a path.
public enum SafeFileName {
    /// The longest name that most file systems take. What is put around it has to make room.
    private static let maxBytes = 255

    /// The last component of `name` with everything that could escape the folder, hide the file, or upset a terminal
    /// or another system replaced by `_`.
    ///
    /// - Returns: `nil` when nothing usable is left (`""`, `"."`, `".."`, `"/"`).
    public static func make(_ name: some StringProtocol) -> String? {
        if isPlain(name) { return String(name) }
        // A backslash separates too: names made on Windows arrive that way.
        // By scalars: a slash with a combining mark behind it is another Character, and still a slash to the kernel.
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

    /// Whether there is nothing to make safe, as in nearly every name.
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
        // Bidirectional overrides make `exe.txt` out of `txt.exe`; zero-width characters make two names look alike.
        case 0x200B...0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: false
        default: !#":*?"<>|"#.unicodeScalars.contains(scalar)
        }
    }

    /// The device names of Windows: a shared folder may be read from there.
    private static func isReserved(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.lowercased()
        if ["con", "prn", "aux", "nul"].contains(stem) { return true }
        return stem.count == 4 && (stem.hasPrefix("com") || stem.hasPrefix("lpt")) && stem.last?.isNumber == true
    }
}
