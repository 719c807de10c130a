import Foundation
public import FoundationNetworking

/// Puts a dictionary into the query of the URL or, as a form, into the body.
///
/// No standard says how to write collections. Arrays are written as `key[]=1&key[]=2`, dictionaries as
/// `key[name]=value`. Names are sorted, so that the same parameters give the same text.
public struct URLEncoding: ParameterEncoding {
    /// The place that the parameters go to.
    public typealias Destination = URLEncodedFormParameterEncoder.Destination
    /// How the name of an array's element is written.
    public typealias ArrayEncoding = URLEncodedFormEncoder.ArrayEncoding
    /// How truth is written.
    public typealias BoolEncoding = URLEncodedFormEncoder.BoolEncoding

    /// By method, arrays with brackets, truth as a number.
    public static var `default`: URLEncoding { URLEncoding() }
    /// Always into the query.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }
    /// Always into the body.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    public let destination: Destination
    public let arrayEncoding: ArrayEncoding
    public let boolEncoding: BoolEncoding

    @preconcurrency
    public init(
        destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Sets `Content-Type` to `application/x-www-form-urlencoded; charset=utf-8` with a body, unless it's set.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` when the request has no URL, or the query can't stand in one.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        guard destination.encodesParametersInURL(for: request.method ?? .get) else {
            request.setParameters(Data(query(parameters).utf8), contentType: URLRequest.formContentType)
            return request
        }
        guard let url = request.url?.appending(percentEncodedQuery: query(parameters)) else {
            throw AFError.parameterEncodingFailed(reason: .missingURL)
        }
        request.url = url
        return request
    }

    /// The pairs, percent-encoded, that a value is written as.
    ///
    /// - Parameter value: Collections give several pairs, or none.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        switch value {
        case let dictionary as [String: Any]:
            return dictionary.sorted { $0.key < $1.key }
                .flatMap { queryComponents(fromKey: "\(key)[\($0.key)]", value: $0.value) }
        case let array as [Any]:
            return array.enumerated().flatMap { index, element in
                queryComponents(fromKey: arrayEncoding.encode(key, atIndex: index), value: element)
            }
        default:
            return [(escape(key), escape(text(of: value)))]
        }
    }

    /// Percent-encodes all but RFC 3986's unreserved characters (§2.3), `?` and `/`.
    public func escape(_ string: String) -> String { QueryEscaping.standard.escape(string) }

    private func query(_ parameters: Parameters) -> String {
        parameters.sorted { $0.key < $1.key }
            .flatMap { queryComponents(fromKey: $0.key, value: $0.value) }
            .map { "\($0)=\($1)" }
            .joined(separator: "&")
    }

    private func text(of value: Any) -> String {
        // A cast to Bool would also take the numbers 0 and 1: what counts is the type that was put in.
        if type(of: value) == Bool.self, let bool = value as? Bool { return boolEncoding.encode(bool) }
        if let number = value as? NSNumber, type(of: number) == Self.booleanNumber {
            return boolEncoding.encode(number.boolValue)
        }
        return "\(value)"
    }

    /// Foundation keeps numbers that stand for truth in a class of their own; their `objCType` is that of `Int8` too.
    private static let booleanNumber: any Any.Type = type(of: NSNumber(value: true))
}
