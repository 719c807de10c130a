import TransferCore

/// The keys of `network`.
package enum NetworkFields {
    /// The fields, whose names in ``NetworkKey`` are also the public names of places and reasons.
    package static let all = ObjectFields<NetworkPolicy>([
        Field("allow", \.allow, .links, standard: [], "The only links that may be used."),
        Field("avoid", \.avoid, .links, standard: [], "The links that are used only when no other link is usable."),
        Field("prefer", \.prefer, .links, standard: [], "The links that are used first, in this order."),
        Field(
            "require", \.require, .requiredLink,
            "The only link that may be used, without exception. An empty value removes the required link of the "
                + "defaults."),
        Field("metered", \.metered, .word, standard: #""allow""#, "Whether metered links are used."),
        Field(
            "meteredBudget", \.meteredBudget, .meteredBudget,
            "The bytes that metered links may carry, such as \"500M/day\"."),
        Field(
            "meteredAfter", \.meteredAfter, .delay,
            "The time to wait for an unmetered link before a metered link is used that is to be avoided."),
        Field(
            "schedule", \.schedule, .schedule, standard: Schedule(),
            "The times when the job may run: a window such as \"22:00-06:00\", or several windows."),
    ])
}

extension NetworkPolicy {
    /// Returns the value of a key as canonical JSON; `nil` where the policy does not set it.
    package func json(_ key: NetworkKey) -> String? {
        guard let field = NetworkFields.all.fields.first(where: { $0.key == key.rawValue }) else { return nil }
        var writer = JSONWriter(bytes: [UInt8(ascii: "{")])
        field.output.write(&writer, self)
        // The brace, the key in its quotes and a colon precede the value.
        let value = writer.bytes.dropFirst(key.rawValue.utf8.count + 4)
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }
}

extension FieldCodec<[LinkPattern]> {
    fileprivate static var links: Self {
        Self(schema: ##""$ref": "#/$defs/links""##) { decoder throws(JSONFault) in
            try NetworkDecoder.links(&decoder)
        } write: {
            $0.array($1) { $0.string($1.text) }
        }
    }
}

extension FieldCodec<LinkPattern> {
    fileprivate static var requiredLink: Self {
        Self(schema: #""type": "string", "pattern": "^$|^(name:)?[^/:\\s]+$""#) { decoder throws(JSONFault) in
            try NetworkDecoder.requiredLink(&decoder)
        } write: {
            $0.string($1.text)
        }
    }
}

extension FieldCodec<MeteredBudget> {
    fileprivate static var meteredBudget: Self {
        let amount = #"[0-9.]*[1-9][0-9.]*([KkMmGgTt]([Ii]?[Bb])?|[Bb])?"#
        return Self(
            schema: #""type": "string", "pattern": "^unlimited$|^\#(amount)/(hour|day|week|month)$""#
        ) { decoder throws(JSONFault) in
            try NetworkDecoder.meteredBudget(&decoder)
        } write: {
            $0.string($1.text)
        }
    }
}

extension FieldCodec<Schedule> {
    fileprivate static var schedule: Self {
        let window = ##"{ "$ref": "#/$defs/window" }"##
        return Self(
            schema: #""anyOf": [\#(window), { "type": "array", "items": \#(window) }]"#
        ) { decoder throws(JSONFault) in
            try NetworkDecoder.schedule(&decoder)
        } write: { writer, schedule in
            let windows = schedule.windows.map(\.text)
            if windows.count == 1 { writer.string(windows[0]) } else { windows.write(to: &writer) }
        }
    }
}
