import Foundation
import FoundationNetworking

extension Request {
    /// The verdict of a validation. An error of the program is reported as `customValidationFailed`.
    public typealias ValidationResult = Result<Void, any Error>
}

/// The standard validations of responses.
enum ResponseRule {
    static let successes = 200..<300

    static func status(_ response: HTTPURLResponse, _ accepted: some Sequence<Int>) -> Request.ValidationResult {
        guard accepted.contains(response.statusCode) else {
            return .failure(
                AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
        }
        return .success(())
    }

    /// Accepts the types that the request's Accept field names, or every type without such a field.
    ///
    /// - Parameter isEmpty: Whether the body is empty, and so has no type; `false` where that is unknown, as for
    ///   streams.
    static func contentType(
        _ request: URLRequest?, _ response: HTTPURLResponse, isEmpty: Bool
    ) -> Request.ValidationResult { contentType(response, acceptable(request), isEmpty: isEmpty) }

    /// Accepts the given types. `type/*`, `*/sub` and `*/*` are patterns, and parameters are ignored. Errors name the
    /// types in the order of their text, whatever sequence they came from.
    static func contentType(
        _ response: HTTPURLResponse, _ accepted: some Sequence<String>, isEmpty: Bool
    ) -> Request.ValidationResult {
        guard !isEmpty else { return .success(()) }
        let accepted = Array(accepted)
        let patterns = accepted.compactMap(MediaType.init)
        guard let type = response.value(forHTTPHeaderField: "Content-Type").flatMap(MediaType.init) else {
            guard patterns.contains(.any) else {
                return .failure(
                    AFError.responseValidationFailed(
                        reason: .missingContentType(acceptableContentTypes: accepted.sorted())))
            }
            return .success(())
        }
        guard patterns.contains(where: { $0.matches(type) }) else {
            return .failure(
                AFError.responseValidationFailed(
                    reason: .unacceptableContentType(
                        acceptableContentTypes: accepted.sorted(), responseContentType: type.description)))
        }
        return .success(())
    }

    /// Returns the types of the request's Accept field. An empty field means the same as a missing one.
    static func acceptable(_ request: URLRequest?) -> [String] {
        let types = request?.value(forHTTPHeaderField: "Accept")?.split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        guard let types, !types.isEmpty else { return ["*/*"] }
        return types
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

    /// Whether `other` matches this pattern.
    func matches(_ other: MediaType) -> Bool {
        (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
    }

    var description: String { "\(type)/\(subtype)" }
}

extension DataRequest {
    /// Accepts only responses with a status in `acceptableStatusCodes`.
    @preconcurrency
    @discardableResult
    public func validate(statusCode acceptableStatusCodes: some Sequence<Int> & Sendable) -> Self {
        validate { _, response, _ in ResponseRule.status(response, acceptableStatusCodes) }
    }

    /// Accepts only responses of these types, which may be patterns such as `image/*`. A response without a body
    /// passes.
    ///
    /// - Parameter acceptableContentTypes: The types, evaluated when the response has arrived.
    @preconcurrency
    @discardableResult
    public func validate<Types: Sequence<String> & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> Types
    ) -> Self {
        validate { _, response, data in
            ResponseRule.contentType(response, acceptableContentTypes(), isEmpty: data?.isEmpty ?? true)
        }
    }

    /// Accepts only responses with a status of 200 to 299, and of a type that the request's Accept field names.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseRule.successes).validate { request, response, data in
            ResponseRule.contentType(request, response, isEmpty: data?.isEmpty ?? true)
        }
    }
}

extension DownloadRequest {
    /// Accepts only responses with a status in `acceptableStatusCodes`.
    @preconcurrency
    @discardableResult
    public func validate(statusCode acceptableStatusCodes: some Sequence<Int> & Sendable) -> Self {
        validate { _, response, _ in ResponseRule.status(response, acceptableStatusCodes) }
    }

    /// Accepts only responses of these types, which may be patterns such as `image/*`. An empty file passes.
    ///
    /// - Parameter acceptableContentTypes: The types, evaluated when the response has arrived.
    @preconcurrency
    @discardableResult
    public func validate<Types: Sequence<String> & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> Types
    ) -> Self {
        validate { _, response, url in
            Self.isEmpty(url).flatMap { ResponseRule.contentType(response, acceptableContentTypes(), isEmpty: $0) }
        }
    }

    /// Accepts only responses with a status of 200 to 299, and of a type that the request's Accept field names.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseRule.successes).validate { request, response, url in
            Self.isEmpty(url).flatMap { ResponseRule.contentType(request, response, isEmpty: $0) }
        }
    }

    /// Whether nothing was downloaded; the file is not read.
    static func isEmpty(_ url: URL?) -> Result<Bool, any Error> {
        guard let url else { return .failure(AFError.responseValidationFailed(reason: .dataFileNil)) }
        guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber else {
            return .failure(AFError.responseValidationFailed(reason: .dataFileReadFailed(at: url)))
        }
        return .success(size.int64Value == 0)
    }
}

extension DataStreamRequest {
    /// Accepts only responses with a status in `acceptableStatusCodes`.
    @preconcurrency
    @discardableResult
    public func validate(statusCode acceptableStatusCodes: some Sequence<Int> & Sendable) -> Self {
        validate { _, response in ResponseRule.status(response, acceptableStatusCodes) }
    }

    /// Accepts only responses of these types, which may be patterns such as `image/*`.
    ///
    /// - Parameter acceptableContentTypes: The types, evaluated when the stream has ended.
    @preconcurrency
    @discardableResult
    public func validate<Types: Sequence<String> & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> Types
    ) -> Self {
        validate { _, response in
            ResponseRule.contentType(response, acceptableContentTypes(), isEmpty: false)
        }
    }

    /// Accepts only responses with a status of 200 to 299, and of a type that the request's Accept field names.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseRule.successes).validate { request, response in
            ResponseRule.contentType(request, response, isEmpty: false)
        }
    }
}
