import TransferCore

/// The keys that only uploads have.
package enum UploadFields {
    package static let rows: [JobField] = [
        JobField(
            upload: Field("chunkSize", \.options.chunkSize, .chunkSize, "The largest number of bytes of one request."),
            isOfSome: true),
        JobField(
            upload: Field(
                "parallel", \.options.parallel, .integer(FieldRanges.parallelRequests),
                "The number of requests at the same time, where parts can be joined."), isOfSome: true),
        JobField(
            upload: Field(
                "createFolders", \.options.createFolders, .boolean, standard: false,
                "Whether missing folders of the destination are created."), isOfSome: true),
        JobField(
            upload: Field(
                "inplace", \.options.inPlace, .boolean, standard: false,
                "Whether the file is sent directly under its own name. This is for FTP and SFTP servers that only "
                    + "permit storing files: no file is renamed, and the server need not answer a query. After an "
                    + "interruption the upload starts again, and the state of the file on the server is not known."),
            isOfSome: true),
        JobField(
            upload: Field(
                "ifChanged", \.options.ifChanged, .word, standard: .restart,
                "The action when the source of an upload has changed since the upload began.")),
        JobField(
            upload: Field(
                "success", \.options.success, .receipts,
                identity: .custom { hash, upload in
                    for status in upload.options.success?.sorted() ?? [] { hash.add("success \(status)") }
                },
                "The statuses that confirm that the server has the file. By default, a 2xx confirms it (of PUT not "
                    + "203, 206, 207, 208 and 226), and after 202 the job waits until the server shows the file. The "
                    + "statuses 302 and 303 are for forms and POST."),
            isOfSome: true),
        JobField(
            upload: values("metadata", \.options.metadata, "The names and values that are sent along with the file."),
            isOfSome: true),
        JobField(
            upload: values(
                "fields", \.options.fields,
                "The names and values of a form, which are sent before the file."),
            isOfSome: true),
        JobField(
            upload: Field(
                "fileField", \.options.fileField, .name("the name"), standard: "file",
                "The name of the form's field for the file."
            ), isOfSome: true),
        JobField(
            upload: Field(
                "tus", \.options.tus, tus, standard: JobSpec.Upload.Tus(),
                "The extensions of tus to use where the server offers them. They are a digest of each chunk, and a "
                    + "creation that includes the first chunk."), isOfSome: true),
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
        Field(
            "createWithUpload", \.createsWithUpload, .boolean, standard: false,
            "Whether the creation includes the first chunk."),
    ])
}
