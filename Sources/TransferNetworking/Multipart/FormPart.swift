import Foundation
import TransferCore

/// One part of a form: its header fields and where its bytes come from.
struct FormPart: Sendable {
    enum Content: Sendable {
        case bytes(Data)
        case file(path: String)
        case stream(OneTimeStream)
    }

    let headers: HTTPHeaders
    let content: Content
    /// Bytes, without the header fields.
    let length: UInt64

    /// The header fields and the empty line after them.
    ///
    /// A line break in a field would end it, and let its text pose as fields or as content: as RFC 9110 §5.5 allows,
    /// CR, LF and NUL become spaces.
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
    /// The fields of a part of a form (RFC 7578 §4.2, §4.4).
    static func headers(name: String, fileName: String?, mimeType: String?) -> HTTPHeaders {
        var disposition = "form-data; name=\"\(escaped(name))\""
        if let fileName { disposition += "; filename=\"\(escaped(fileName))\"" }
        var headers: HTTPHeaders = [.contentDisposition(disposition)]
        if let mimeType { headers.add(.contentType(mimeType)) }
        return headers
    }

    /// As the HTML standard has it for multipart/form-data, and so browsers and servers: three characters are
    /// replaced, and all else is UTF-8 as it is. By scalars, since a `Character` can be CR and LF together.
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
