import Foundation
public import FoundationNetworking
import TransferCore

/// Header fields in the order they were added; names are compared without regard to case, and appear once.
public struct HTTPHeaders: Equatable, Hashable, Sendable {
    private var headers: [HTTPHeader] = []

    public init() {}

    /// The last of several fields with one name wins, in the place of the first.
    public init(_ headers: [HTTPHeader]) {
        for header in headers { update(header) }
    }

    /// A dictionary has no order: the fields are sorted by name.
    public init(_ dictionary: [String: String]) {
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { update(name: name, value: value) }
    }

    /// Takes the place of the field with that name, or stands at the end.
    public mutating func add(name: String, value: String) { update(name: name, value: value) }

    /// Takes the place of the field with that name, or stands at the end.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Takes the place of the field with that name, or stands at the end.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Takes the place of the field with that name, or stands at the end.
    public mutating func update(_ header: HTTPHeader) {
        if let index = index(of: header.name) { headers[index] = header } else { headers.append(header) }
    }

    /// Takes the field out, if it's there.
    public mutating func remove(name: String) { headers.removeAll { $0.name.asciiCaseInsensitiveEquals(name) } }

    /// Sorts by name, without regard to case.
    public mutating func sort() { headers.sort { $0.name.lowercased() < $1.name.lowercased() } }

    /// A copy, sorted by name without regard to case.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// The value of the field with that name.
    public func value(for name: String) -> String? { index(of: name).map { headers[$0].value } }

    /// The value of the field with that name; setting `nil` removes the field.
    public subscript(_ name: String) -> String? {
        get { value(for: name) }
        set {
            if let newValue { update(name: name, value: newValue) } else { remove(name: name) }
        }
    }

    /// The fields by name, without their order.
    public var dictionary: [String: String] {
        Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    private func index(of name: String) -> Int? {
        headers.firstIndex { $0.name.asciiCaseInsensitiveEquals(name) }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: HTTPHeader...) { self.init(elements) }
}

extension HTTPHeaders: Sequence {
    public func makeIterator() -> IndexingIterator<[HTTPHeader]> { headers.makeIterator() }
}

extension HTTPHeaders: Collection {
    public var startIndex: Int { headers.startIndex }
    public var endIndex: Int { headers.endIndex }
    public subscript(position: Int) -> HTTPHeader { headers[position] }
    public func index(after position: Int) -> Int { headers.index(after: position) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One field a line; the values of secret fields are left out.
    public var description: String { headers.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders {
    /// The fields that a session sends unless a request says otherwise.
    ///
    /// Downloads into files ask for no coding, so that offsets in them mean something.
    public static let `default`: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
}

extension URLRequest {
    /// `allHTTPHeaderFields` as a typed value.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(allHTTPHeaderFields ?? [:]) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }
}

extension HTTPURLResponse {
    /// `allHeaderFields` as a typed value.
    public var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for case (let name as String, let value as String) in allHeaderFields { headers.add(name: name, value: value) }
        return headers.sorted()
    }
}

extension URLSessionConfiguration {
    /// `httpAdditionalHeaders` as a typed value, sorted by name.
    public var headers: HTTPHeaders {
        get {
            var headers = HTTPHeaders()
            for (name, value) in httpAdditionalHeaders ?? [:] { headers.add(name: "\(name)", value: "\(value)") }
            return headers.sorted()
        }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}
