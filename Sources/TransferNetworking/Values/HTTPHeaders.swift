import Foundation
public import FoundationNetworking
import TransferCore

/// The header fields in the order of their addition. Names are compared without regard to case, and are unique.
public struct HTTPHeaders: Equatable, Hashable, Sendable {
    private var headers: [HTTPHeader] = []

    /// Creates an empty collection.
    public init() {}

    /// Takes fields. The last of several fields with one name counts, at the position of the first.
    public init(_ headers: [HTTPHeader]) {
        for header in headers { update(header) }
    }

    /// Takes a dictionary, whose fields are sorted by name.
    public init(_ dictionary: [String: String]) {
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { update(name: name, value: value) }
    }

    /// Replaces the field with that name, or adds it at the end.
    public mutating func add(name: String, value: String) { update(name: name, value: value) }

    /// Replaces the field with that name, or adds it at the end.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Replaces the field with that name, or adds it at the end.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Replaces the field with that name, or adds it at the end.
    public mutating func update(_ header: HTTPHeader) {
        if let index = index(of: header.name) { headers[index] = header } else { headers.append(header) }
    }

    /// Removes the field with that name, if there is one.
    public mutating func remove(name: String) { headers.removeAll { $0.name.asciiCaseInsensitiveEquals(name) } }

    /// Sorts the fields by name, without regard to case.
    public mutating func sort() { headers.sort { $0.name.lowercased() < $1.name.lowercased() } }

    /// Returns the fields sorted by name, without regard to case.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// Returns the value of the field with that name; `nil` without one.
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
    /// Takes the fields of a literal; the last of several fields with one name counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// Takes the fields of a literal; the last of several fields with one name counts.
    public init(arrayLiteral elements: HTTPHeader...) { self.init(elements) }
}

extension HTTPHeaders: Sequence {
    /// Returns an iterator over the fields, in order.
    public func makeIterator() -> IndexingIterator<[HTTPHeader]> { headers.makeIterator() }
}

extension HTTPHeaders: Collection {
    /// The position of the first field.
    public var startIndex: Int { headers.startIndex }
    /// The position after the last field.
    public var endIndex: Int { headers.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HTTPHeader { headers[position] }
    /// Returns the position after another one.
    public func index(after position: Int) -> Int { headers.index(after: position) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one a line; the values of secret fields are left out.
    public var description: String { headers.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders {
    /// The fields that a session sends unless a request has its own.
    ///
    /// Downloads to files request no coding, so that offsets in the files have a meaning.
    public static let `default`: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
}

extension URLRequest {
    /// The value of `allHTTPHeaderFields` in typed form.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(allHTTPHeaderFields ?? [:]) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }
}

extension HTTPURLResponse {
    /// The value of `allHeaderFields` in typed form, sorted by name.
    public var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for case (let name as String, let value as String) in allHeaderFields { headers.add(name: name, value: value) }
        return headers.sorted()
    }
}

extension URLSessionConfiguration {
    /// The value of `httpAdditionalHeaders` in typed form, sorted by name.
    public var headers: HTTPHeaders {
        get {
            var headers = HTTPHeaders()
            for (name, value) in httpAdditionalHeaders ?? [:] { headers.add(name: "\(name)", value: "\(value)") }
            return headers.sorted()
        }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}
