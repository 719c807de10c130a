import Foundation
import TransferCore

/// One header field: a name and a value.
public struct HTTPHeader: Hashable, Sendable {
    /// As it was given; names are compared without regard to case.
    public let name: String
    public let value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader: CustomStringConvertible {
    /// `Name: value`; the values of secret fields (Authorization, cookies, keys) are left out.
    public var description: String {
        "\(name): \(Redaction.isSecretHeader(name) ? Redaction.mark : value)"
    }
}

extension HTTPHeader {
    /// The types of content that are understood (RFC 9110 §12.5.1).
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }

    /// The charsets that are understood (RFC 9110 §12.5.2).
    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }

    /// The languages that are wanted (RFC 9110 §12.5.4); ``defaultAcceptLanguage`` has the user's.
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }

    /// The content codings that are understood (RFC 9110 §12.5.3); ``defaultAcceptEncoding`` has those decoded here.
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }

    /// Basic authentication (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// A bearer token (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    /// Credentials of any scheme (RFC 9110 §11.6.2).
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }

    /// How the content is to be shown or saved (RFC 6266).
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }

    /// The codings of the body (RFC 9110 §8.4).
    public static func contentEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Encoding", value: value)
    }

    /// The type of the body (RFC 9110 §8.3).
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }

    /// The name of the program that asks (RFC 9110 §10.1.5); ``defaultUserAgent`` names the program.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }

    /// The subprotocols of a WebSocket (RFC 6455 §11.3.4).
    public static func websocketProtocol(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
    }
}
