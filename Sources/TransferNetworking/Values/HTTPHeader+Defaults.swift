import Foundation
import TransferCore
import TransferEngine

extension HTTPHeader {
    /// The field `br;q=1.0, gzip;q=0.9, deflate;q=0.8`, without the codings that the loaded libcurl cannot decode.
    public static let defaultAcceptEncoding = acceptEncoding(codings(ContentCoding.decodable))

    /// The field with up to six languages of the environment (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`). Their
    /// quality falls by a tenth each; without any, English is used.
    public static let defaultAcceptLanguage: HTTPHeader = {
        // `Locale.preferredLanguages` is the same on every Linux.
        let asked = SystemLanguages(environment: ProcessInfo.processInfo.environment).tags
        return acceptLanguage(languages(asked.isEmpty ? ["en"] : asked))
    }()

    /// The field `executable/version (bundle; build:n; Linux a.b.c) TransferKit/x.y.z`, with `Unknown` for missing
    /// parts.
    public static let defaultUserAgent: HTTPHeader = {
        let info = Bundle.main.infoDictionary
        func part(_ key: String) -> String? { info?[key] as? String }
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
        let system = ProcessInfo.processInfo.operatingSystemVersion
        return userAgent(
            agent(
                executable: part("CFBundleExecutable") ?? program, version: part("CFBundleShortVersionString"),
                bundle: Bundle.main.bundleIdentifier, build: part("CFBundleVersion"),
                system: "Linux \(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"))
    }()

    static func agent(executable: String?, version: String?, bundle: String?, build: String?, system: String) -> String
    {
        // A program may have any name, but a field's value cannot contain every character (RFC 9110 §5.5).
        func clean(_ part: String?) -> String {
            let visible = (part ?? "").unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
            let text = String(String.UnicodeScalarView(visible))
            return text.allSatisfy { $0 == " " } ? "Unknown" : text
        }
        return "\(clean(executable))/\(clean(version)) (\(clean(bundle)); build:\(clean(build)); \(system)) "
            + "TransferKit/\(TransferVersion.current)"
    }

    static func codings(_ decodable: [String]) -> String {
        decodable.isEmpty ? "identity" : qualityEncoded(decodable)
    }

    static func languages(_ preferred: [String]) -> String {
        preferred.isEmpty ? "*" : qualityEncoded(preferred.prefix(6))
    }

    static func qualityEncoded(_ values: some Collection<String>) -> String {
        values.enumerated().map { index, value in
            index == 0 ? "\(value);q=1.0" : "\(value);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }
}
