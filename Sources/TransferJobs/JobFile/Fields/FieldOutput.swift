import TransferCore

/// What is made of a field's value: its canonical text, its share of the job's fingerprint, and its secrets.
///
/// Initializers that take key paths are inlined, so that the compiler can see which path it is: one that it can't see is asked
/// of the runtime at each access.
package final class FieldOutput<Owner>: Sendable {
    package typealias Write = @Sendable (inout CanonicalWriter, Owner) -> Void
    package typealias Hash = @Sendable (inout FNV1a, Owner) -> Void

    package let key: String
    /// Writes the key and its value; nothing where the value is the default.
    package let write: Write
    /// `nil` for what brings no other result.
    package let hash: Hash?
    /// `nil` where there can be none.
    package let secrets: FieldSecrets<Owner>?

    package init(_ key: String, hash: Hash? = nil, secrets: FieldSecrets<Owner>? = nil, write: @escaping Write) {
        self.key = key
        self.hash = hash
        self.secrets = secrets
        self.write = write
    }

    /// Of a value that is always there.
    ///
    /// - Parameter standard: The value that isn't written.
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

    /// Of a value that may not be there.
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

    /// Of a value that is always written.
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

/// Whether a field's value is a part of the job's fingerprint.
package enum FieldIdentity<Owner> {
    /// Rules of patience: the job brings the same result.
    case without
    /// The key and the value, where it isn't the default: so that older jobs keep their fingerprints when a key is added.
    case counted
    /// As older versions did it.
    case custom(FieldOutput<Owner>.Hash)

    fileprivate func hash(_ write: @escaping FieldOutput<Owner>.Write) -> FieldOutput<Owner>.Hash? {
        switch self {
        case .without: nil
        case .custom(let hash): hash
        case .counted:
            { hash, owner in
                var writer = CanonicalWriter()
                writer.object { write(&$0, owner) }
                if writer.bytes.count > 2 { hash.add(String(decoding: writer.bytes, as: UTF8.self)) }
            }
        }
    }
}

/// The secrets in a field's value.
package struct FieldSecrets<Owner>: Sendable {
    /// All values that can be named.
    package let texts: @Sendable (Owner) -> [SecretText]
    /// Whether a secret is written out, which only a program can do.
    package let isWrittenOut: @Sendable (Owner) -> Bool
    /// Blanks those that are written out.
    package let redact: @Sendable (inout Owner) -> Void

    package init(
        texts: @escaping @Sendable (Owner) -> [SecretText], isWrittenOut: @escaping @Sendable (Owner) -> Bool,
        redact: @escaping @Sendable (inout Owner) -> Void
    ) {
        self.texts = texts
        self.isWrittenOut = isWrittenOut
        self.redact = redact
    }

    /// - Parameter mustBeNamed: Whether a value that is written out is a secret.
    @inline(__always)
    package init(_ path: any WritableKeyPath<Owner, SecretText?> & Sendable, mustBeNamed: Bool) {
        self.init { owner in
            owner[keyPath: path].map { [$0] } ?? []
        } isWrittenOut: { owner in
            mustBeNamed && owner[keyPath: path]?.isLiteral == true
        } redact: { owner in
            if mustBeNamed, owner[keyPath: path]?.isLiteral == true { owner[keyPath: path] = .blank }
        }
    }
}

extension SecretText {
    /// A secret that was taken out.
    package static var blank: SecretText { .literal(Redaction.mark) }

    package var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}
