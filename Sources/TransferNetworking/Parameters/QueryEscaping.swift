public import Foundation
import FoundationNetworking

extension CharacterSet {
    /// The characters that remain unescaped in the names and values of a query or a form. They are RFC 3986's
    /// unreserved characters (§2.3), and `?` and `/`, which a query may contain (§3.4).
    public static let afURLQueryAllowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?")
}

/// The percent-encoding of names and values (RFC 3986 §2.1).
///
/// A `CharacterSet` is slow for single bytes, and is therefore read once for each ASCII character.
struct QueryEscaping: Sendable {
    private let isAllowed: [Bool]

    static let standard = QueryEscaping(.afURLQueryAllowed)

    /// - Parameter allowed: The characters that remain unescaped. Only ASCII characters count, as others may not occur
    ///   in a URL.
    init(_ allowed: CharacterSet) {
        isAllowed = (0..<128).map { allowed.contains(Unicode.Scalar(UInt8($0))) }
    }

    /// - Parameter space: The replacement of a space, which does not depend on the allowed characters.
    func escape(_ text: String, space: String = "%20") -> String {
        var text = text
        return text.withUTF8 { bytes in
            if bytes.allSatisfy({ $0 != 0x20 && $0 < 128 && isAllowed[Int($0)] }) {
                return String(decoding: bytes, as: UTF8.self)
            }
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count * 2)
            for byte in bytes {
                if byte == 0x20 {
                    result.append(contentsOf: space.utf8)
                } else if byte < 128, isAllowed[Int(byte)] {
                    result.append(byte)
                } else {
                    result.append(contentsOf: [0x25, Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]])
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension URL {
    /// Returns the URL with further pairs at the end of its query; the existing text stays byte for byte.
    ///
    /// - Parameter query: The percent-encoded pairs.
    /// - Returns: `nil` when the query has characters that cannot occur in a URL. They are not encoded here, as every
    ///   `%` would then be encoded once more.
    func appending(percentEncodedQuery query: String) -> URL? {
        if query.isEmpty { return self }
        var text = absoluteString
        let fragment = text.firstIndex(of: "#").map { String(text[$0...]) } ?? ""
        text.removeLast(fragment.count)
        if let question = text.firstIndex(of: "?") {
            let existing = text[text.index(after: question)...]
            if !existing.isEmpty, existing.last != "&" { text += "&" }
        } else {
            text += "?"
        }
        return URL(string: text + query + fragment, encodingInvalidCharacters: false)
    }
}

extension HTTPMethod {
    /// Whether parameters belong in the URL, as these methods have no use for a body (RFC 9110 §9.3).
    var encodesParametersInURL: Bool { self == .get || self == .head || self == .delete }
}

extension URLRequest {
    /// Sets the body, and its type unless the request has one.
    mutating func setParameters(_ body: Data, contentType: String) {
        if value(forHTTPHeaderField: "Content-Type") == nil {
            setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        httpBody = body
    }

    static let formContentType = "application/x-www-form-urlencoded; charset=utf-8"
    static let jsonContentType = "application/json"
}
