import Foundation
import TransferCore

/// One header field: a name and a value.
public struct HTTPHeader: Hashable, Sendable {
    /// The name, as it was given; names are compared without regard to case.
    public let name: String
    /// The value.
    public let value: String

    /// Creates a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader: CustomStringConvertible {
    /// The field as `Name: value`; the values of secret fields (Authorization, cookies, keys) are left out.
    public var description: String {
        "\(name): \(Redaction.isSecretHeader(name) ? Redaction.mark : value)"
    }
}

extension HTTPHeader {
    /// Returns a field with the acceptable media types (RFC 9110 §12.5.1).
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }

    /// Returns a field with the acceptable charsets (RFC 9110 §12.5.2).
    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }

    /// Returns a field with the preferred languages (RFC 9110 §12.5.4); ``defaultAcceptLanguage`` has the user's.
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }

    /// Returns a field with the acceptable content codings (RFC 9110 §12.5.3); ``defaultAcceptEncoding`` has those that
    /// the library decodes.
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }

    /// Returns a field for Basic authentication (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// Returns a field with a bearer token (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    /// Returns a field with credentials of any scheme (RFC 9110 §11.6.2).
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }

    /// Returns a field about the presentation or the file name of the content (RFC 6266).
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }

    /// Returns a field with the codings of the body (RFC 9110 §8.4).
    public static func contentEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Encoding", value: value)
    }

    /// Returns a field with the media type of the body (RFC 9110 §8.3).
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }

    /// Returns a field with the name of the client (RFC 9110 §10.1.5); ``defaultUserAgent`` has the program's.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }

    /// Returns a field with the subprotocols of a WebSocket (RFC 6455 §11.3.4).
    public static func websocketProtocol(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
    }
}
