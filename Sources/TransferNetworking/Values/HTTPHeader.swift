import Foundation
import TransferCore

/// One header field: a name and a value.
public struct HTTPHeader: Hashable, Sendable {
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
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }

    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }

    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }

    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }

    /// Basic authentication (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// A bearer token (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }

    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }

    public static func contentEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Encoding", value: value)
    }

    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }

    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
}

extension HTTPHeader {
    /// Up to six preferred languages, with a quality that falls by a tenth.
    public static let defaultAcceptLanguage = acceptLanguage(qualityEncoded(Locale.preferredLanguages.prefix(6)))

    /// `executable/version (bundle; build:n; Linux a.b.c) TransferKit/x.y.z`, missing parts `Unknown`.
    public static let defaultUserAgent: HTTPHeader = {
        let info = Bundle.main.infoDictionary
        func part(_ key: String) -> String? { info?[key] as? String }
        let executable =
            part("CFBundleExecutable") ?? CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
            ?? "Unknown"
        let system = ProcessInfo.processInfo.operatingSystemVersion
        let version = "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
        return userAgent(
            "\(executable)/\(part("CFBundleShortVersionString") ?? "Unknown") "
                + "(\(Bundle.main.bundleIdentifier ?? "Unknown"); build:\(part("CFBundleVersion") ?? "Unknown"); "
                + "Linux \(version)) TransferKit/\(TransferVersion.current)")
    }()

    static func qualityEncoded(_ values: some Collection<String>) -> String {
        values.enumerated().map { index, value in
            index == 0 ? "\(value);q=1.0" : "\(value);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }
}
