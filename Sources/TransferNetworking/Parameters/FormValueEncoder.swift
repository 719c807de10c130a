import Foundation

/// An encoder of one value into one node.
struct FormValueEncoder: Encoder {
    let node: FormNode
    let form: URLEncodedFormEncoder
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ node: FormNode, _ form: URLEncodedFormEncoder, _ codingPath: [any CodingKey]) {
        self.node = node
        self.form = form
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.openObject()
        return KeyedEncodingContainer(FormKeyedContainer(node, form, codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.openArray()
        return FormUnkeyedContainer(node: node, form: form, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension FormValueEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { node.value = form.nilEncoding.encodeNil() }

    func encode(_ value: Bool) throws { node.value = form.boolEncoding.encode(value) }

    func encode(_ value: String) throws { node.value = value }

    /// Encodes values of all types that can be written in several ways, from every kind of container.
    func encode<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let value as Bool: try encode(value)
        case let value as String: try encode(value)
        case let value as Date: try encode(value, orAs: form.dateEncoding.encode(value))
        case let value as Data: try encode(value, orAs: form.dataEncoding.encode(value))
        // Values of these types would encode themselves as a structure of several parts.
        case let value as Decimal: node.value = value.description
        case let value as URL: node.value = value.absoluteString
        default: try value.encode(to: self)
        }
    }

    private func encode(_ value: some Encodable, orAs text: String?) throws {
        if let text { node.value = text } else { try value.encode(to: self) }
    }

    func encode(_ value: Double) throws { number(value) }
    func encode(_ value: Float) throws { number(value) }
    func encode(_ value: Int) throws { number(value) }
    func encode(_ value: Int8) throws { number(value) }
    func encode(_ value: Int16) throws { number(value) }
    func encode(_ value: Int32) throws { number(value) }
    func encode(_ value: Int64) throws { number(value) }
    func encode(_ value: Int128) throws { number(value) }
    func encode(_ value: UInt) throws { number(value) }
    func encode(_ value: UInt8) throws { number(value) }
    func encode(_ value: UInt16) throws { number(value) }
    func encode(_ value: UInt32) throws { number(value) }
    func encode(_ value: UInt64) throws { number(value) }
    func encode(_ value: UInt128) throws { number(value) }

    private func number(_ value: some CustomStringConvertible) { node.value = value.description }
}

/// The key of an array's element.
struct FormIndexKey: CodingKey {
    let index: Int
    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }

    init(_ index: Int) { self.index = index }
    init?(intValue: Int) { index = intValue }
    init?(stringValue: String) { return nil }
}

struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let node: FormNode
    let form: URLEncodedFormEncoder
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    private func next() -> FormValueEncoder {
        let path = codingPath + [FormIndexKey(count)]
        return FormValueEncoder(node.append(), form, path)
    }

    func encodeNil() throws { try next().encodeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try next().encode(value) }

    // The protocol's own versions for these two types throw, and would be preferred to the generic one.
    func encode(_ value: Int128) throws { try next().encode(value) }
    func encode(_ value: UInt128) throws { try next().encode(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        next().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

    func superEncoder() -> any Encoder { next() }
}
