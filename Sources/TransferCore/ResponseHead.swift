import Glibc

/// The status and fields of a response, kept as the received bytes and parsed only on request.
///
/// Most transfers need two of twenty fields, so nothing is parsed in advance.
public struct ResponseHead: Sendable, Hashable {
    /// The status.
    public let status: Int
    /// The block of field lines, each ended by CRLF or LF, without the status line.
    public let block: [UInt8]
    /// The time of arrival in seconds since 1970 by the local clock, which replaces a missing Date (RFC 9110 §6.6.1).
    public var received: Int64?

    /// Creates a head; `block` has the field lines without the status line.
    public init(status: Int, block: [UInt8], received: Int64? = nil) {
        self.status = status
        self.block = block
        self.received = received
    }

    /// Creates a head from fields.
    public init(status: Int, fields: [HeaderField]) {
        self.init(status: status, block: Array(fields.map { "\($0.name): \($0.value)\r\n" }.joined().utf8))
    }

    /// Returns the first value of the field, without surrounding white space. Bytes that are not UTF-8 are read as
    /// ISO-8859-1.
    public func value(_ name: StaticString) -> String? {
        var first: String?
        forEachValue(of: name) { value in
            first = Self.text(value)
            return false
        }
        return first
    }

    /// Returns the value of a field that a response may have only once (RFC 9110 §5.3).
    ///
    /// - Returns: `nil` where the field is missing, or was received several times with different values. Contradictory
    ///   values prove nothing.
    public func singleValue(_ name: StaticString) -> String? {
        var first: String?
        var isContradicted = false
        forEachValue(of: name) { value in
            let value = Self.text(value)
            isContradicted = first.map { $0 != value } ?? false
            first = value
            return !isContradicted
        }
        return isContradicted ? nil : first
    }

    /// Calls `body` with the value of each field with this name, until it returns `false`.
    private func forEachValue(of name: StaticString, _ body: (UnsafeRawBufferPointer) -> Bool) {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        block.withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
            while rest.count > name.count, let start = rest.baseAddress {
                let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { UnsafeRawPointer($0) - start }
                if rest[name.count] == UInt8(ascii: ":"), end ?? rest.count > name.count,
                    name.indices.allSatisfy({ rest[$0].asciiLowercased == name[$0].asciiLowercased })
                {
                    let value = UnsafeRawBufferPointer(rebasing: rest[(name.count + 1)..<(end ?? rest.count)])
                    guard body(value) else { return }
                }
                guard let end else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
            }
        }
    }

    /// All fields, in the order of their arrival.
    public var fields: [HeaderField] {
        var result: [HeaderField] = []
        block.withUnsafeBytes { bytes in
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
                result.append(
                    HeaderField(
                        Self.text(UnsafeRawBufferPointer(rebasing: line[..<colon])),
                        Self.text(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))))
            }
        }
        return result
    }

    /// The value of Content-Length; `nil` where it is missing or no number.
    public var contentLength: Int64? {
        value("Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The media type of the body, in lower case and without parameters (RFC 9110 §8.3.1).
    public var mediaType: String? {
        value("Content-Type").map { type in
            String(type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
        }
    }

    /// The content codings of the body in their order; `nil` for none.
    ///
    /// Several fields form one list (RFC 9110 §5.3). `identity` is no coding, and neither is `none`, which scripts send
    /// to switch off a server's compression.
    public var contentCoding: String? {
        guard let first = value("Content-Encoding") else { return nil }
        // Most responses have one field with one coding.
        let lists = fields.filter { $0.isNamed("Content-Encoding") }.map(\.value)
        let codings = (lists.isEmpty ? [first] : lists).flatMap { $0.split(separator: ",") }.compactMap { item in
            let name = item.filter { $0 != " " && $0 != "\t" }
            let isNone = name.isEmpty || ["identity", "none"].contains { name.asciiCaseInsensitiveEquals($0) }
            return isNone ? nil : String(name)
        }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        let trimmed = UnsafeRawBufferPointer(rebasing: bytes[first...last])
        // Nearly all values are ASCII, and a validation as UTF-8 costs more than this check.
        if trimmed.allSatisfy({ $0 < 0x80 }) { return String(decoding: trimmed, as: UTF8.self) }
        if let utf8 = String(validating: trimmed, as: UTF8.self) { return utf8 }
        return String(String.UnicodeScalarView(trimmed.map { Unicode.Scalar($0) }))
    }
}
