import Foundation
import FoundationNetworking

public typealias ValidationResult = Result<Void, any Error>

/// The rules that answers of every kind are held to.
enum ResponseRule {
    static let successes = 200..<300

    static func status(_ response: HTTPURLResponse, _ accepted: some Sequence<Int>) -> ValidationResult {
        guard accepted.contains(response.statusCode) else {
            return .failure(
                AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
        }
        return .success(())
    }

    /// `type/*`, `*/sub` and `*/*` match too; parameters don't count, and an answer without a body has no type.
    static func contentType(_ response: HTTPURLResponse, _ accepted: [String], isEmpty: Bool) -> ValidationResult {
        guard !isEmpty else { return .success(()) }
        let patterns = accepted.compactMap(MediaType.init)
        guard let type = response.mimeType.flatMap(MediaType.init) else {
            guard patterns.contains(.any) else {
                return .failure(
                    AFError.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: accepted)))
            }
            return .success(())
        }
        guard patterns.contains(where: { $0.matches(type) }) else {
            return .failure(
                AFError.responseValidationFailed(
                    reason: .unacceptableContentType(
                        acceptableContentTypes: accepted, responseContentType: type.description)))
        }
        return .success(())
    }

    /// What the request said it takes.
    static func acceptable(_ request: URLRequest?) -> [String] {
        guard let accept = request?.value(forHTTPHeaderField: "Accept") else { return ["*/*"] }
        return accept.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

/// The type of a body, without its parameters (RFC 9110 §8.3.1).
struct MediaType: Equatable, CustomStringConvertible {
    static let any = MediaType(type: "*", subtype: "*")
    let type: String
    let subtype: String

    private init(type: String, subtype: String) {
        self.type = type
        self.subtype = subtype
    }

    init?(_ text: String) {
        let plain = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let parts = plain.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        type = String(parts[0])
        subtype = String(parts[1])
    }

    /// Whether `other` fits this pattern.
    func matches(_ other: MediaType) -> Bool {
        (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
    }

    var description: String { "\(type)/\(subtype)" }
}

extension DataRequest {
    /// Takes only answers with a status of `acceptableStatusCodes`.
    @discardableResult
    public func validate(statusCode acceptableStatusCodes: some Sequence<Int> & Sendable) -> Self {
        validate { _, response, _ in ResponseRule.status(response, acceptableStatusCodes) }
    }

    /// Takes only answers of these types; `image/*` and the like are patterns.
    @discardableResult
    public func validate(contentType acceptable: [String]) -> Self {
        validate { _, response, data in
            ResponseRule.contentType(response, acceptable, isEmpty: data?.isEmpty ?? true)
        }
    }

    /// Takes only answers with a status of 200 to 299, and of a type that the request's Accept field names.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseRule.successes).validate { request, response, data in
            ResponseRule.contentType(response, ResponseRule.acceptable(request), isEmpty: data?.isEmpty ?? true)
        }
    }
}

extension DownloadRequest {
    /// Takes only answers with a status of `acceptableStatusCodes`.
    @discardableResult
    public func validate(statusCode acceptableStatusCodes: some Sequence<Int> & Sendable) -> Self {
        validate { _, response, _ in ResponseRule.status(response, acceptableStatusCodes) }
    }

    /// Takes only answers of these types; `image/*` and the like are patterns.
    @discardableResult
    public func validate(contentType acceptable: [String]) -> Self {
        validate { _, response, url in ResponseRule.contentType(response, acceptable, isEmpty: Self.isEmpty(url)) }
    }

    /// Takes only answers with a status of 200 to 299, and of a type that the request's Accept field names.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseRule.successes).validate { request, response, url in
            ResponseRule.contentType(response, ResponseRule.acceptable(request), isEmpty: Self.isEmpty(url))
        }
    }

    private static func isEmpty(_ url: URL?) -> Bool {
        guard let url, let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] else {
            return true
        }
        return (size as? NSNumber)?.int64Value == 0
    }
}
