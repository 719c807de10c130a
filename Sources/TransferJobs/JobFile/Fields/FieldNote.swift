/// The description of a field in the schema and the manual page.
package struct FieldNote: Sendable {
    /// Plain text. The schema, whose readers use an editor, has all of it; the manual page has its first sentence.
    package let summary: String
    /// The members of the field's JSON Schema, without the braces.
    package let schema: String
    /// The value in force where none is given, as JSON.
    package let standard: String?
    /// The object that the field's value is, or can be.
    package let object: ObjectNote?

    package init(_ summary: String, schema: String, standard: String? = nil, object: ObjectNote? = nil) {
        self.summary = summary
        self.schema = schema
        self.standard = standard
        self.object = object
    }

    /// Creates the description of a field whose value is an object.
    package init(_ summary: String, _ object: ObjectNote) {
        self.init(summary, schema: ##""$ref": "#/$defs/\##(object.name)""##, object: object)
    }
}

/// The description of an object in the schema.
package struct ObjectNote: Sendable {
    /// The name of the object's definition in the schema.
    package let name: String
    package let members: [Member]
    /// Further members of the object's JSON Schema, without the braces.
    package let schema: String

    package struct Member: Sendable {
        package let key: String
        package let about: FieldNote
        /// Whether `null` removes the member's value.
        package let isUnsettable: Bool
    }
}

extension ObjectFields {
    /// Returns the description of the object.
    ///
    /// - Parameters:
    ///   - name: The name of the object's definition in the schema.
    ///   - isMerged: Whether the object is merged over weaker ones, so that `null` removes their values.
    package func note(_ name: String, isMerged: Bool = false) -> ObjectNote {
        ObjectNote(
            name: name,
            members: fields.map { .init(key: $0.key, about: $0.about, isUnsettable: isMerged && $0.copy != nil) },
            schema: schema)
    }
}
