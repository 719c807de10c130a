import Glibc

/// The parts of a `multipart/form-data` body (RFC 7578).
public struct MultipartForm: Sendable {
    /// A part of the body.
    public struct Part: Sendable {
        /// The name of the form's field.
        public let name: String
        /// The file's name; `nil` for a part that is no file.
        public let fileName: String?
        /// The content type of the part; `nil` for none.
        public let contentType: String?
        /// The bytes of the part.
        public let body: ArraySlice<UInt8>
    }

    /// The parts, in their order.
    public let parts: [Part]

    /// Parses a body.
    ///
    /// - Returns: `nil` where the content type is not `multipart/form-data`. Parts without a name are left out.
    public init?(_ body: [UInt8], contentType: String) {
        guard contentType.lowercased().hasPrefix("multipart/form-data"),
            let boundary = Self.parameter("boundary", of: contentType)
        else { return nil }
        // The first delimiter is at the start and has no line end before it, unlike all others.
        let bytes = Array("\r\n".utf8) + body
        let places = Self.places(of: Array("\r\n--\(boundary)".utf8), in: bytes)
        parts = zip(places, places.dropFirst()).compactMap { Self.part(bytes[$0.upperBound..<$1.lowerBound]) }
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> Part? {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else { return nil }
        var headers = HeaderFields()
        for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers.add(String(line[..<colon]), line[line.index(after: colon)...].trimmingSpaces)
        }
        guard let disposition = headers["Content-Disposition"], let name = parameter("name", of: disposition) else {
            return nil
        }
        return Part(
            name: name, fileName: parameter("filename", of: disposition), contentType: headers["Content-Type"],
            body: bytes[(end + separator.count)...])
    }

    /// Returns a parameter's value, with or without quotes. Browsers encode `"` in it as `%22`, other clients as `\"`.
    private static func parameter(_ name: String, of field: String) -> String? {
        var rest = field[...]
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " }
            guard rest.lowercased().hasPrefix(name + "=") else { continue }
            rest = rest.dropFirst(name.count + 1)
            guard rest.first == "\"" else { return rest.prefix { $0 != ";" }.trimmingSpaces }
            var value = ""
            var isEscaped = false
            for character in rest.dropFirst() {
                if isEscaped || (character != "\\" && character != "\"") {
                    value.append(character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else {
                    return value.replacing("%22", with: "\"")
                }
            }
        }
        return nil
    }

    /// Returns the places of a pattern. The search uses `memchr`, so that it is fast for many megabytes even in a debug
    /// build.
    private static func places(of pattern: [UInt8], in bytes: [UInt8]) -> [Range<Int>] {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            var places: [Range<Int>] = []
            var start = 0
            while bytes.count - start >= pattern.count,
                let found = memchr(base + start, Int32(pattern[0]), bytes.count - start)
            {
                let place = base.distance(to: found)
                let isWhole = bytes.count - place >= pattern.count && memcmp(found, pattern, pattern.count) == 0
                if isWhole { places.append(place..<place + pattern.count) }
                start = place + (isWhole ? pattern.count : 1)
            }
            return places
        }
    }
}
