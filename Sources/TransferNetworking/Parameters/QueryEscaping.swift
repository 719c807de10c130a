public import Foundation
import FoundationNetworking

extension CharacterSet {
    /// The characters that stay as they are in the names and values of a query or a form: RFC 3986's unreserved
    /// characters (§2.3), and `?` and `/`, which a query may contain (§3.4).
    public static let afURLQueryAllowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?")
}

/// Percent-encodes names and values (RFC 3986 §2.1).
///
/// Asking a `CharacterSet` byte by byte is slow, so it's asked once for each ASCII character.
struct QueryEscaping: Sendable {
    private let isAllowed: [Bool]

    static let standard = QueryEscaping(.afURLQueryAllowed)

    /// - Parameter allowed: Only its ASCII characters count, as no other may stand in a URL.
    init(_ allowed: CharacterSet) {
        isAllowed = (0..<128).map { allowed.contains(Unicode.Scalar(UInt8($0))) }
    }

    /// - Parameter space: What a space becomes, whether or not it's among the allowed characters.
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
    /// The URL with more pairs at the end of its query; what's there already stays byte for byte.
    ///
    /// - Parameter query: Percent-encoded.
    /// - Returns: `nil` when the query has characters that can't stand in a URL. They are not encoded here: with them
    ///   every `%` would be encoded once more.
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
    /// Whether parameters belong in the URL: these methods have no use for a body (RFC 9110 §9.3).
    var encodesParametersInURL: Bool { self == .get || self == .head || self == .delete }
}

extension URLRequest {
    /// Sets the body, and its type unless the request names one.
    mutating func setParameters(_ body: Data, contentType: String) {
        if value(forHTTPHeaderField: "Content-Type") == nil {
            setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        httpBody = body
    }

    static let formContentType = "application/x-www-form-urlencoded; charset=utf-8"
    static let jsonContentType = "application/json"
}
