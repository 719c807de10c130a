package import TransferCore

/// The keys of an object within a job, such as `retry`.
package struct ObjectFields<Owner: Sendable>: Sendable {
    package let table: KeyTable<Field<Owner>>
    /// Further members of the object's JSON Schema, without the braces.
    package let schema: String

    package init(_ fields: [Field<Owner>], schema: String = "") {
        table = KeyTable(fields) { $0.key }
        self.schema = schema
    }

    package var fields: [Field<Owner>] { table.keys }

    /// Reads an object over the existing values.
    ///
    /// - Parameter blank: An owner with the values that `null` restores; without it, `null` is invalid.
    /// - Returns: The bits of the keys that were present; `nil` where the value is no object.
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

    package func write(_ writer: inout JSONWriter, _ owner: Owner) {
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
    /// Creates a field whose value is an object that always exists; a job's keys override those of its defaults.
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

    /// Creates a field whose value is an optional object; a job's keys override those of its defaults.
    ///
    /// - Parameters:
    ///   - start: The object before its keys are read.
    ///   - check: A closure that notes faults of the object as a whole; it receives the end of the object's key.
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
