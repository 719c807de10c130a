import HTTPTypes
import Hummingbird
import TransferCrypto
import TransferQueue

/// The field with which a client names a request, so that it may repeat the request after a lost response
/// (draft-ietf-httpapi-idempotency-key-header-07 §2.1).
enum IdempotencyKey {
    static let mostBytes = 255

    /// Reads the key of a request.
    ///
    /// - Parameter body: The whole body, which is a part of the request's identity.
    /// - Returns: `nil` for a request without a key.
    /// - Throws: A 400 for a field without a valid key.
    static func read(_ request: Request, body: [UInt8]) throws -> SubmissionKey? {
        guard let field = HTTPField.Name("Idempotency-Key"), let text = request.headers[field] else { return nil }
        guard let name = name(text) else {
            throw Problem.malformed(
                "Idempotency-Key is a string of 1 to \(mostBytes) visible characters, such as a UUID")
        }
        return SubmissionKey(name, digest: try digest(request, body))
    }

    /// Parses a key: a string of structured fields (RFC 9651 §3.3.3), or one without its quotes, as many clients send
    /// it.
    static func name(_ text: String) -> String? {
        var bytes = Array(text.utf8)
        let isQuoted = bytes.first == UInt8(ascii: "\"")
        if isQuoted {
            guard let content = unquoted(bytes) else { return nil }
            bytes = content
        } else if bytes.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ",") }) {
            return nil
        }
        guard (1...mostBytes).contains(bytes.count),
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F || isQuoted && $0 == 0x20 })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unquoted(_ bytes: [UInt8]) -> [UInt8]? {
        var content: [UInt8] = []
        var rest = bytes.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return rest.isEmpty ? content : nil
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") else {
                    return nil
                }
                content.append(next)
            default: content.append(byte)
            }
        }
        return nil
    }

    /// Returns the digest of the whole request: its body, type, method and URL.
    private static func digest(_ request: Request, _ body: [UInt8]) throws -> String {
        let digest = try Digest(.sha256)
        for text in [request.method.rawValue, request.uri.string, request.mediaType ?? ""] {
            // None of these texts contains a zero byte.
            (Array(text.utf8) + [0]).withUnsafeBytes(digest.update)
        }
        body.withUnsafeBytes(digest.update)
        return try digest.finish().description
    }
}
