/// What the schema and the manual page say of a field.
package struct FieldNote: Sendable {
    /// Plain text: all of it for the schema, whose readers are in an editor, and its first sentence for the manual page.
    package let summary: String
    /// The members of its JSON Schema, without their braces.
    package let schema: String
    /// The value that stands for no value, as JSON.
    package let standard: String?
    /// The object that its value is, or can be.
    package let object: ObjectNote?

    package init(_ summary: String, schema: String, standard: String? = nil, object: ObjectNote? = nil) {
        self.summary = summary
        self.schema = schema
        self.standard = standard
        self.object = object
    }

    /// A field whose value is an object.
    package init(_ summary: String, _ object: ObjectNote) {
        self.init(summary, schema: ##""$ref": "#/$defs/\##(object.name)""##, object: object)
    }
}

/// What the schema says of an object.
package struct ObjectNote: Sendable {
    /// The name of its definition in the schema.
    package let name: String
    package let members: [Member]
    /// Further members of its JSON Schema, without braces.
    package let schema: String

    package struct Member: Sendable {
        package let key: String
        package let about: FieldNote
        /// Whether `null` takes its value away.
        package let isUnsettable: Bool
    }
}

extension ObjectFields {
    /// - Parameters:
    ///   - name: The name of its definition in the schema.
    ///   - isMerged: Whether it's laid over what weaker objects say, so that `null` takes away what they do.
    package func note(_ name: String, isMerged: Bool = false) -> ObjectNote {
        ObjectNote(
            name: name,
            members: fields.map { .init(key: $0.key, about: $0.about, isUnsettable: isMerged && $0.copy != nil) },
            schema: schema)
    }
}
