/// One key of an object of the job file: how it's read into the value of its owner that it stands for, and all that is made
/// of that.
package final class Field<Owner>: Sendable {
    package typealias Read = @Sendable (inout JobDecoder, inout Owner) throws(JSONFault) -> Void

    /// Gives one owner the value that another has.
    package typealias Copy = @Sendable (inout Owner, Owner) -> Void

    package let about: FieldNote
    package let output: FieldOutput<Owner>
    package let read: Read
    /// `nil` for a field that can't be taken back.
    package let copy: Copy?
    /// What `null` does, where that isn't to give the owner the value of one of which nothing is said.
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
    /// A field that has a value always.
    ///
    /// - Parameter standard: The value that isn't written.
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

    /// A field that may have no value.
    ///
    /// - Parameter standard: The value that no value stands for, as JSON.
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

    /// A field that is always written.
    ///
    /// - Parameter standard: The value of an object without the key, as JSON.
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

    /// A field whose value may be a secret, or has to be.
    ///
    /// - Parameter mustBeNamed: Whether a value that is written out is a secret.
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
