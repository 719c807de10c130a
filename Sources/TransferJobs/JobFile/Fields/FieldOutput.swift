package import TransferCore

/// The outputs made of a field's value: its canonical text, its part of the job's fingerprint, and its secrets.
///
/// Initializers that take key paths are inlined, so that the compiler knows the path. An unknown key path costs a call
/// of the runtime at each access.
package final class FieldOutput<Owner>: Sendable {
    package typealias Write = @Sendable (inout JSONWriter, Owner) -> Void
    package typealias Hash = @Sendable (inout FNV1a, Owner) -> Void

    package let key: String
    /// The closure that writes the key and its value; nothing for the default value.
    package let write: Write
    /// The closure that adds the value to the fingerprint; `nil` for a field that does not change a job's result.
    package let hash: Hash?
    /// The field's secrets; `nil` where there can be none.
    package let secrets: FieldSecrets<Owner>?

    package init(_ key: String, hash: Hash? = nil, secrets: FieldSecrets<Owner>? = nil, write: @escaping Write) {
        self.key = key
        self.hash = hash
        self.secrets = secrets
        self.write = write
    }

    /// Creates the output of a value that always exists.
    ///
    /// - Parameter standard: The default value, which is not written.
    @inline(__always)
    package convenience init<Value: Equatable & Sendable>(
        _ key: String, _ path: any KeyPath<Owner, Value> & Sendable, _ codec: FieldCodec<Value>, standard: Value,
        identity: FieldIdentity<Owner> = .without
    ) {
        let write: Write = { writer, owner in
            let value = owner[keyPath: path]
            guard value != standard else { return }
            writer.key(key)
            codec.write(&writer, value)
        }
        self.init(key, hash: identity.hash(write), write: write)
    }

    /// Creates the output of an optional value.
    @inline(__always)
    package convenience init<Value: Sendable>(
        _ key: String, _ path: any KeyPath<Owner, Value?> & Sendable, _ codec: FieldCodec<Value>,
        identity: FieldIdentity<Owner> = .without, secrets: FieldSecrets<Owner>? = nil
    ) {
        let write: Write = { writer, owner in
            guard let value = owner[keyPath: path] else { return }
            writer.key(key)
            codec.write(&writer, value)
        }
        self.init(key, hash: identity.hash(write), secrets: secrets, write: write)
    }

    /// Creates the output of a value that is always written.
    @inline(__always)
    package convenience init<Value: Sendable>(
        always key: String, _ path: any KeyPath<Owner, Value> & Sendable, _ codec: FieldCodec<Value>,
        identity: FieldIdentity<Owner> = .without
    ) {
        let write: Write = { writer, owner in
            writer.key(key)
            codec.write(&writer, owner[keyPath: path])
        }
        self.init(key, hash: identity.hash(write), write: write)
    }
}

/// The way in which a field's value takes part in the job's fingerprint.
package enum FieldIdentity<Owner> {
    /// The value does not count, since it changes only timing or effort: the job yields the same result.
    case without
    /// The key and the value count, unless the value is the default. A key added later thus leaves older jobs'
    /// fingerprints unchanged.
    case counted
    /// The value counts in the same way as in older versions.
    case custom(FieldOutput<Owner>.Hash)

    fileprivate func hash(_ write: @escaping FieldOutput<Owner>.Write) -> FieldOutput<Owner>.Hash? {
        switch self {
        case .without: nil
        case .custom(let hash): hash
        case .counted:
            { hash, owner in
                var writer = JSONWriter()
                writer.object { write(&$0, owner) }
                if writer.bytes.count > 2 { hash.add(String(decoding: writer.bytes, as: UTF8.self)) }
            }
        }
    }
}

/// The secrets of a field's value.
package struct FieldSecrets<Owner>: Sendable {
    /// The closure that returns all values that may be named secrets.
    package let texts: @Sendable (Owner) -> [SecretText]
    /// The closure that decides whether a secret is a literal, which only a program can set.
    package let isWrittenOut: @Sendable (Owner) -> Bool
    /// The closure that blanks the literal secrets.
    package let redact: @Sendable (inout Owner) -> Void

    package init(
        texts: @escaping @Sendable (Owner) -> [SecretText], isWrittenOut: @escaping @Sendable (Owner) -> Bool,
        redact: @escaping @Sendable (inout Owner) -> Void
    ) {
        self.texts = texts
        self.isWrittenOut = isWrittenOut
        self.redact = redact
    }

    /// Creates the secrets of one optional value.
    ///
    /// - Parameter mustBeNamed: Whether a literal value counts as a secret.
    @inline(__always)
    package init(_ path: any WritableKeyPath<Owner, SecretText?> & Sendable, mustBeNamed: Bool) {
        self.init { owner in
            owner[keyPath: path].map { [$0] } ?? []
        } isWrittenOut: { owner in
            mustBeNamed && owner[keyPath: path]?.isWrittenOut == true
        } redact: { owner in
            if mustBeNamed, owner[keyPath: path]?.isLiteral == true { owner[keyPath: path] = .blank }
        }
    }
}

extension SecretText {
    /// The text in place of a secret that was removed.
    package static var blank: SecretText { .literal(Redaction.mark) }

    /// Whether the value is a literal that a store must not hold, and not the mark of a removed one.
    package var isWrittenOut: Bool { isLiteral && self != .blank }

    package var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}
