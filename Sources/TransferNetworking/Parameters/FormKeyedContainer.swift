/// A container that encodes members into an object.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: FormNode
    let form: URLEncodedFormEncoder
    let codingPath: [any CodingKey]

    init(_ node: FormNode, _ form: URLEncodedFormEncoder, _ codingPath: [any CodingKey]) {
        self.node = node
        self.form = form
        self.codingPath = codingPath
    }

    private func member(_ key: some CodingKey) -> FormValueEncoder {
        FormValueEncoder(node.member(key.stringValue), form, codingPath + [key])
    }

    func encodeNil(forKey key: Key) throws { try member(key).encodeNil() }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try member(key).encode(value) }

    // The protocol's own versions for these two types throw, and would be preferred to the generic one.
    func encode(_ value: Int128, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: UInt128, forKey key: Key) throws { try member(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { member(key).container(keyedBy: keyType) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }

    /// Returns an encoder that writes beside the subclass's members, as forms have no use for a name `super`.
    func superEncoder() -> any Encoder { FormValueEncoder(node.beside(), form, codingPath) }

    func superEncoder(forKey key: Key) -> any Encoder {
        FormValueEncoder(node.member(key.stringValue).beside(), form, codingPath + [key])
    }

    // The code that the compiler generates for optional properties calls these functions. The protocol's own versions,
    // one for each type, drop `nil` before a strategy sees it.
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try optional(value, key) }

    private func optional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}
