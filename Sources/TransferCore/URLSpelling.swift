/// The only spelling of URLs and references that is sent, compared and recorded.
public enum URLSpelling {
    /// Returns the canonical spelling. The host is in ASCII (``HostName``), and an `ftp` URL has no type
    /// (``FTPTypeCode``). Blanks, quotes, angle brackets and non-ASCII characters after the host are percent-encoded.
    /// The encoded characters are invalid in URLs (RFC 3986 §2), but occur in typed URLs and in Location fields.
    ///
    /// - Parameter reference: An absolute or relative reference; one in canonical spelling is returned unchanged.
    /// - Throws: `HostName.Fault` for a host without an ASCII form.
    public static func canonical(_ reference: String) throws(HostName.Fault) -> String {
        isCanonical(reference) ? reference : try spelt(reference)
    }

    /// Returns whether a reference is known to be canonical; some canonical ones are not recognized.
    public static func isCanonical(_ reference: String) -> Bool {
        FTPTypeCode.split(reference) == nil
            && (reference.utf8.withContiguousStorageIfAvailable(isCanonical)
                ?? Array(reference.utf8).withUnsafeBufferPointer(isCanonical))
    }

    /// Returns the canonical spelling, or the unchanged reference where there is none; the code that sends it reports
    /// the fault.
    public static func canonicalIfPossible(_ reference: String) -> String {
        (try? canonical(reference)) ?? reference
    }

    /// Returns the reason why there is no canonical spelling; `nil` where there is one.
    public static func fault(of reference: String) -> HostName.Fault? {
        do throws(HostName.Fault) {
            _ = try canonical(reference)
            return nil
        } catch {
            return error
        }
    }

    /// Checks each byte once, since this runs for every job and every request.
    private static func isCanonical(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var slashes = 0
        for byte in bytes {
            if mustBeEscaped(byte) { return false }
            if byte == UInt8(ascii: "/") { slashes += 1 }
            // A `%` after the authority needs no change.
            if byte == UInt8(ascii: "%"), slashes == 2 { return false }
        }
        return true
    }

    private static func spelt(_ reference: String) throws(HostName.Fault) -> String {
        let reference = FTPTypeCode.split(reference)?.url ?? reference
        let bytes = reference.utf8
        guard let host = host(of: reference) else { return escaped(bytes[...]) }
        return String(reference[..<host.lowerBound]) + (try HostName.asciiForm(of: reference[host]))
            + escaped(bytes[host.upperBound...])
    }

    /// Returns the range of the host's name in `https://host/…` and `//host/…`; `nil` for no host, and for an address
    /// in brackets.
    private static func host(of reference: String) -> Range<String.Index>? {
        let bytes = reference.utf8
        guard let first = bytes.firstIndex(where: { "/?#".utf8.contains($0) }), bytes[first] == UInt8(ascii: "/"),
            bytes[first...].starts(with: "//".utf8)
        else { return nil }
        let scheme = bytes[..<first]
        // The name of a bucket is no host.
        guard scheme.isEmpty || scheme.last == UInt8(ascii: ":"), Substring(scheme).lowercased() != "s3:" else {
            return nil
        }
        let start = bytes.index(first, offsetBy: 2)
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@"))
        let name = at.map { bytes.index(after: $0) } ?? start
        guard name < end, bytes[name] != UInt8(ascii: "[") else { return nil }
        return name..<(bytes[name..<end].firstIndex(of: UInt8(ascii: ":")) ?? end)
    }

    private static func escaped(_ bytes: Substring.UTF8View) -> String {
        guard bytes.contains(where: mustBeEscaped) else { return String(Substring(bytes)) }
        let digits = Array("0123456789ABCDEF".utf8)
        let result = bytes.flatMap { byte in
            mustBeEscaped(byte) ? [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] : [byte]
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<")
            || byte == UInt8(ascii: ">")
    }
}
