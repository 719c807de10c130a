import TransferCore

/// The keys that only uploads have.
package enum UploadFields {
    package static let rows: [JobField] = [
        JobField(
            upload: Field("chunkSize", \.options.chunkSize, .chunkSize, "Bytes of one request at most."),
            isOfSome: true),
        JobField(
            upload: Field(
                "parallel", \.options.parallel, .integer(FieldRanges.parallelRequests),
                "Requests at the same time, where parts can be joined."), isOfSome: true),
        JobField(
            upload: Field(
                "createFolders", \.options.createFolders, .boolean, standard: false,
                "Make the folders of the destination that are missing."), isOfSome: true),
        JobField(
            upload: Field(
                "inplace", \.options.inPlace, .boolean, standard: false,
                "Send the file under its own name at once. For FTP and SFTP servers where one may only store files: nothing is "
                    + "renamed and no question has to be answered, nothing is gone on with after a break, and what a break "
                    + "left there isn't known."), isOfSome: true),
        JobField(
            upload: Field(
                "ifChanged", \.options.ifChanged, .word, standard: .restart,
                "What becomes of an upload whose source changed since it began.")),
        JobField(
            upload: Field(
                "success", \.options.success, .receipts,
                identity: .custom { hash, upload in
                    for status in upload.options.success?.sorted() ?? [] { hash.add("success \(status)") }
                },
                "The answers that say that the server has the file; each 2xx otherwise. Of those, 202 waits until the file can "
                    + "be seen. 302 and 303 are for forms and POST."),
            isOfSome: true),
        JobField(
            upload: values("metadata", \.options.metadata, "Names and values that go along with the file."),
            isOfSome: true),
        JobField(
            upload: values("fields", \.options.fields, "Names and values of a form, before the file."),
            isOfSome: true),
        JobField(
            upload: Field(
                "fileField", \.options.fileField, .name("the name"), standard: "file",
                "The form's field that is the file."
            ), isOfSome: true),
        JobField(
            upload: Field(
                "tus", \.options.tus, tus, standard: JobSpec.Upload.Tus(),
                "Extensions of tus, used where the server offers them. They are a digest of each chunk, and the first chunk with "
                    + "the creation."), isOfSome: true),
    ]

    /// Returns a field of names and values, in their order.
    private static func values(
        _ key: String, _ path: any WritableKeyPath<JobSpec.Upload, [JobSpec.Upload.Field]> & Sendable, _ summary: String
    ) -> Field<JobSpec.Upload> {
        let output = FieldOutput<JobSpec.Upload>(key) { hash, upload in
            for field in upload[keyPath: path] {
                hash.add(field.name)
                hash.add("\(field.value)")
            }
        } write: { writer, upload in
            let fields = upload[keyPath: path]
            guard !fields.isEmpty else { return }
            writer.key(key)
            writer.object { writer in
                for field in fields {
                    writer.key(field.name)
                    field.value.write(to: &writer)
                }
            }
        }
        return Field(
            FieldNote(summary, schema: ##""$ref": "#/$defs/namedValues""##), output,
            copy: { $0[keyPath: path] = $1[keyPath: path] }
        ) { (decoder, upload) throws(JSONFault) in
            try SecretDecoder.namedValues(&decoder, into: &upload[keyPath: path])
        }
    }

    package static let tus = ObjectFields<JobSpec.Upload.Tus>([
        Field("checksum", \.checksum, .word, "The algorithm of a digest that protects each chunk."),
        Field("createWithUpload", \.createsWithUpload, .boolean, standard: false, "The first chunk with the creation."),
    ])
}
