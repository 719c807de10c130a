/// What the schema and the manual page say of a field.
struct FieldNote: Sendable {
    /// Plain text: all of it for the schema, whose readers are in an editor, and its first sentence for the manual page.
    let summary: String
    /// The members of its JSON Schema, without their braces.
    let schema: String
    /// The value that stands for no value, as JSON.
    let standard: String?
    /// The object that its value is, or can be.
    let object: ObjectNote?

    init(_ summary: String, schema: String, standard: String? = nil, object: ObjectNote? = nil) {
        self.summary = summary
        self.schema = schema
        self.standard = standard
        self.object = object
    }

    /// A field whose value is an object.
    init(_ summary: String, _ object: ObjectNote) {
        self.init(summary, schema: ##""$ref": "#/$defs/\##(object.name)""##, object: object)
    }
}

/// What the schema says of an object.
struct ObjectNote: Sendable {
    /// The name of its definition in the schema.
    let name: String
    let members: [Member]
    /// Further members of its JSON Schema, without braces.
    let schema: String

    struct Member: Sendable {
        let key: String
        let about: FieldNote
    }
}

extension ObjectFields {
    /// - Parameter name: The name of its definition in the schema.
    func note(_ name: String) -> ObjectNote {
        ObjectNote(name: name, members: fields.map { .init(key: $0.key, about: $0.about) }, schema: schema)
    }
}
