import TransferCore

/// The keys of an object within a job, such as `retry`.
package struct ObjectFields<Owner: Sendable>: Sendable {
    package let table: KeyTable<Field<Owner>>
    /// Further members of its JSON Schema, without braces.
    package let schema: String

    package init(_ fields: [Field<Owner>], schema: String = "") {
        table = KeyTable(fields) { $0.key }
        self.schema = schema
    }

    package var fields: [Field<Owner>] { table.keys }

    /// Reads an object into what is there.
    ///
    /// - Parameter blank: Has the values that `null` goes back to; without it `null` is none.
    /// - Returns: Which keys were there; `nil` when the value is no object.
    @discardableResult
    package func read(
        _ decoder: inout JobDecoder, into owner: inout Owner, unsettingTo blank: Owner? = nil
    ) throws(JSONFault) -> UInt64? {
        try decoder.object(table) { (decoder, field) throws(JSONFault) in
            if let blank, let copy = field.copy, try decoder.unsets() {
                return field.unset?(&owner) ?? copy(&owner, blank)
            }
            try field.read(&decoder, &owner)
        }
    }

    package func write(_ writer: inout CanonicalWriter, _ owner: Owner) {
        writer.object { for field in table.keys { field.output.write(&$0, owner) } }
    }

    /// The secrets of the object; `nil` where it can have none.
    package var secrets: FieldSecrets<Owner>? {
        let secrets = fields.compactMap(\.output.secrets)
        guard !secrets.isEmpty else { return nil }
        return FieldSecrets { owner in
            secrets.flatMap { $0.texts(owner) }
        } isWrittenOut: { owner in
            secrets.contains { $0.isWrittenOut(owner) }
        } redact: { owner in
            for secret in secrets { secret.redact(&owner) }
        }
    }
}

extension Field {
    /// A field whose value is an object that is there always: what a job says is laid over what its defaults say.
    @inline(__always)
    package convenience init<Value: Equatable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Owner, Value> & Sendable, _ fields: ObjectFields<Value>,
        standard: Value,
        _ summary: String
    ) {
        let secrets = fields.secrets.map { secrets in
            FieldSecrets<Owner> {
                secrets.texts($0[keyPath: path])
            } isWrittenOut: {
                secrets.isWrittenOut($0[keyPath: path])
            } redact: {
                secrets.redact(&$0[keyPath: path])
            }
        }
        let output = FieldOutput<Owner>(key, secrets: secrets) { writer, owner in
            let value = owner[keyPath: path]
            guard value != standard else { return }
            writer.key(key)
            fields.write(&writer, value)
        }
        self.init(
            FieldNote(summary, fields.note(key, isMerged: true)), output,
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, owner) throws(JSONFault) in
            try fields.read(&decoder, into: &owner[keyPath: path], unsettingTo: standard)
        }
    }

    /// A field whose value is an object that may not be there: what a job says is laid over what its defaults say.
    ///
    /// - Parameters:
    ///   - start: What an object begins with.
    ///   - check: Notes what only shows when the whole object is known; gets where its key ends.
    @inline(__always)
    package convenience init<Value: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Owner, Value?> & Sendable, _ fields: ObjectFields<Value>,
        from start: Value, hash: FieldOutput<Owner>.Hash? = nil, _ summary: String,
        check: (@Sendable (inout JobDecoder, Value, Int) -> Void)? = nil
    ) {
        let secrets = fields.secrets.map { secrets in
            FieldSecrets<Owner> {
                $0[keyPath: path].map(secrets.texts) ?? []
            } isWrittenOut: {
                $0[keyPath: path].map(secrets.isWrittenOut) ?? false
            } redact: { owner in
                guard var value = owner[keyPath: path] else { return }
                secrets.redact(&value)
                owner[keyPath: path] = value
            }
        }
        let output = FieldOutput<Owner>(key, hash: hash, secrets: secrets) { writer, owner in
            guard let value = owner[keyPath: path] else { return }
            writer.key(key)
            fields.write(&writer, value)
        }
        self.init(
            FieldNote(summary, fields.note(key, isMerged: true)), output,
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, owner) throws(JSONFault) in
            var value = owner[keyPath: path] ?? start
            let place = decoder.reader.offset
            try fields.read(&decoder, into: &value, unsettingTo: start)
            check?(&decoder, value, place)
            owner[keyPath: path] = value
        }
    }
}
