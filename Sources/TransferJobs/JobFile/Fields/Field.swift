/// One key of an object in the job file: the way its value is read, and everything derived from that value.
package final class Field<Owner>: Sendable {
    package typealias Read = @Sendable (inout JobDecoder, inout Owner) throws(JSONFault) -> Void

    /// A closure that copies the field's value from one owner to another.
    package typealias Copy = @Sendable (inout Owner, Owner) -> Void

    package let about: FieldNote
    package let output: FieldOutput<Owner>
    package let read: Read
    /// The copy of the value; `nil` for a field that `null` cannot reset.
    package let copy: Copy?
    /// The effect of `null`; `nil` for the usual one, the value of a newly created owner.
    package let unset: (@Sendable (inout Owner) -> Void)?

    package var key: String { output.key }

    package init(
        _ about: FieldNote, _ output: FieldOutput<Owner>, copy: Copy? = nil,
        unset: (@Sendable (inout Owner) -> Void)? = nil, read: @escaping Read
    ) {
        self.about = about
        self.output = output
        self.copy = copy
        self.unset = unset
        self.read = read
    }
}

extension Field {
    /// Creates a field that always has a value.
    ///
    /// - Parameter standard: The default value, which is not written.
    @inline(__always)
    package convenience init<Value: Equatable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Owner, Value> & Sendable, _ codec: FieldCodec<Value>,
        standard: Value, identity: FieldIdentity<Owner> = .without, _ summary: String
    ) {
        self.init(
            FieldNote(summary, schema: codec.schema, standard: codec.json(standard)),
            FieldOutput(key, path, codec, standard: standard, identity: identity),
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, owner) throws(JSONFault) in owner[keyPath: path] = try codec.read(&decoder) ?? standard }
    }

    /// Creates a field whose value is optional.
    ///
    /// - Parameter standard: The value in force where none is given, as JSON.
    @inline(__always)
    package convenience init<Value: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Owner, Value?> & Sendable, _ codec: FieldCodec<Value>,
        standard: String? = nil, identity: FieldIdentity<Owner> = .without, _ summary: String
    ) {
        self.init(
            FieldNote(summary, schema: codec.schema, standard: standard),
            FieldOutput(key, path, codec, identity: identity),
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, owner) throws(JSONFault) in owner[keyPath: path] = try codec.read(&decoder) }
    }

    /// Creates a field that is always written.
    ///
    /// - Parameter standard: The value in force where the key is missing, as JSON.
    @inline(__always)
    package convenience init<Value: Sendable>(
        always key: String, _ path: any WritableKeyPath<Owner, Value> & Sendable, _ codec: FieldCodec<Value>,
        standard: String? = nil, identity: FieldIdentity<Owner> = .without, _ summary: String
    ) {
        self.init(
            FieldNote(summary, schema: codec.schema, standard: standard),
            FieldOutput(always: key, path, codec, identity: identity),
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, owner) throws(JSONFault) in
            if let value = try codec.read(&decoder) { owner[keyPath: path] = value }
        }
    }

    /// Creates a field whose value may be, or must be, a secret.
    ///
    /// - Parameter mustBeNamed: Whether a literal value counts as a secret.
    @inline(__always)
    package convenience init(
        secret key: String, _ path: any WritableKeyPath<Owner, SecretText?> & Sendable, _ codec: FieldCodec<SecretText>,
        mustBeNamed: Bool = true, _ summary: String
    ) {
        let secrets = FieldSecrets(path, mustBeNamed: mustBeNamed)
        self.init(
            FieldNote(summary, schema: codec.schema), FieldOutput(key, path, codec, secrets: secrets),
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, owner) throws(JSONFault) in owner[keyPath: path] = try codec.read(&decoder) }
    }
}
