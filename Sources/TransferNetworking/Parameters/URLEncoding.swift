import Foundation
public import FoundationNetworking

/// An encoding that writes a dictionary into the query of the URL or, as a form, into the body.
///
/// No standard defines the notation of collections. Arrays are written as `key[]=1&key[]=2`, dictionaries as
/// `key[name]=value`. Names are sorted, so that equal parameters yield equal text.
public struct URLEncoding: ParameterEncoding {
    /// The place of the parameters.
    public typealias Destination = URLEncodedFormParameterEncoder.Destination
    /// The notation of an array element's name.
    public typealias ArrayEncoding = URLEncodedFormEncoder.ArrayEncoding
    /// The notation of truth values.
    public typealias BoolEncoding = URLEncodedFormEncoder.BoolEncoding

    /// The encoding that chooses the place by the method, with brackets for arrays and numbers for truth values.
    public static var `default`: URLEncoding { URLEncoding() }
    /// The encoding that always uses the query.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }
    /// The encoding that always uses the body.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// The place of the parameters.
    public let destination: Destination
    /// The notation of an array element's name.
    public let arrayEncoding: ArrayEncoding
    /// The notation of truth values.
    public let boolEncoding: BoolEncoding

    /// Creates an encoding; the parameters are the properties of the same names.
    @preconcurrency
    public init(
        destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Writes the parameters into the query or the body. With a body, sets `Content-Type` to
    /// `application/x-www-form-urlencoded; charset=utf-8` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` when the request has no URL, or when the query cannot occur in one.
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

    /// Returns the percent-encoded pairs that represent a value.
    ///
    /// - Parameters:
    ///   - key: The name of the value.
    ///   - value: The value; a collection yields several pairs, or none.
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

    /// Percent-encodes all characters but RFC 3986's unreserved ones (§2.3), `?` and `/`.
    public func escape(_ string: String) -> String { QueryEscaping.standard.escape(string) }

    private func query(_ parameters: Parameters) -> String {
        parameters.sorted { $0.key < $1.key }
            .flatMap { queryComponents(fromKey: $0.key, value: $0.value) }
            .map { "\($0)=\($1)" }
            .joined(separator: "&")
    }

    private func text(of value: Any) -> String {
        // A cast to Bool would also accept the numbers 0 and 1, hence the comparison of the types.
        if type(of: value) == Bool.self, let bool = value as? Bool { return boolEncoding.encode(bool) }
        if let number = value as? NSNumber, type(of: number) == Self.booleanNumber {
            return boolEncoding.encode(number.boolValue)
        }
        return "\(value)"
    }

    /// The class in which Foundation keeps truth values. Their `objCType` is that of `Int8`, and so no distinction.
    private static let booleanNumber: any Any.Type = type(of: NSNumber(value: true))
}
