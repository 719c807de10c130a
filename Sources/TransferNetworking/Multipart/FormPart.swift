import Foundation
import TransferCore

/// One part of a form: its header fields and the source of its bytes.
struct FormPart: Sendable {
    enum Content: Sendable {
        case bytes(Data)
        case file(path: String)
        case stream(OneTimeStream)
    }

    let headers: HTTPHeaders
    let content: Content
    /// The length of the content in bytes, without the header fields.
    let length: UInt64

    /// The header fields and the empty line after them.
    ///
    /// A line break in a field would end it, and its rest would count as further fields or as content. CR, LF and NUL
    /// become spaces, as RFC 9110 §5.5 allows.
    var head: Data {
        var head = Data()
        for header in headers {
            head.append(contentsOf: Self.withoutBreaks(header.name))
            head.append(contentsOf: ": ".utf8)
            head.append(contentsOf: Self.withoutBreaks(header.value))
            head.append(contentsOf: "\r\n".utf8)
        }
        head.append(contentsOf: "\r\n".utf8)
        return head
    }

    private static func withoutBreaks(_ text: String) -> some Sequence<UInt8> {
        text.utf8.lazy.map { [0x0D, 0x0A, 0].contains($0) ? 0x20 : $0 }
    }
}

extension FormPart {
    /// Returns the header fields of a part (RFC 7578 §4.2, §4.4).
    static func headers(name: String, fileName: String?, mimeType: String?) -> HTTPHeaders {
        var disposition = "form-data; name=\"\(escaped(name))\""
        if let fileName { disposition += "; filename=\"\(escaped(fileName))\"" }
        var headers: HTTPHeaders = [.contentDisposition(disposition)]
        if let mimeType { headers.add(.contentType(mimeType)) }
        return headers
    }

    /// Escapes a name as the HTML standard requires for multipart/form-data: three characters are replaced, and the
    /// rest stays UTF-8. The loop is over scalars, as a `Character` can be CR and LF together.
    static func escaped(_ name: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": escaped.append(contentsOf: "%22".unicodeScalars)
            case "\r": escaped.append(contentsOf: "%0D".unicodeScalars)
            case "\n": escaped.append(contentsOf: "%0A".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
