import TransferCore

/// The keys for the work itself: its source, its destination and the digests that verify it.
package enum WorkFields {
    package static let rows: [JobField] = [
        JobField(
            "id", [], .all,
            FieldNote(
                "The name of the job. By default, its destination names it.",
                schema:
                    #""type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[^/\\u0000-\\u001f\\u007f-\\u009f]+$""#
            ),
            [.name(FieldOutput("id", \.id, .anyText))]
        ) { (decoder, draft) throws(JSONFault) in try draft.readID(&decoder) },
        JobField(
            "download", [], .downloads,
            FieldNote(
                "The URL of a file, or an array of the mirrors of one file, the best one first.",
                schema: ##""anyOf": [{ "$ref": "#/$defs/url" }, { "type": "array", "minItems": 1, "items": "##
                    + ##"{ "$ref": "#/$defs/url" } }]"##),
            [.download(urls)]
        ) { (decoder, draft) throws(JSONFault) in try DownloadDecoder.mirrors(&decoder, &draft) },
        JobField(
            upload: Field(
                always: "upload", \.source, .path, identity: .custom { $0.add($1.source) }, "The file to send."), []),
        JobField(
            "to", .watch, .all,
            FieldNote(
                "The file or folder of a download, or the URL of an upload. A folder ends in a slash.",
                schema: #""type": "string", "minLength": 1"#),
            [.download(destination), .upload(url)]
        ) { (decoder, draft) throws(JSONFault) in draft.to = try decoder.text() },
        JobField(
            download: Field(
                "defaultName", \.defaultName,
                .text(schema: #""type": "string", "minLength": 1"#) { name in
                    name.isEmpty || SafeFileName.make(name) != name ? "not a name of a file" : nil
                },
                identity: .custom { if let name = $1.defaultName { $0.add(name) } },
                "The file's name in a folder where the server gives none. By default, the URL gives the name."), []),
        JobField(
            "destination", [], .all,
            FieldNote(
                "The request settings and credentials for a copy's destination. Of the job's own keys, those that "
                    + "identify no client apply to it too. The keys s3, ssh and ftp apply to it where the source does "
                    + "not use them.",
                DestinationRules.fields.note("destination", isMerged: true)),
            // The copy itself writes this part of the canonical text.
            []
        ) { (decoder, draft) throws(JSONFault) in try draft.destination.read(&decoder) },
        JobField(
            "checksum", [], .all,
            FieldNote(
                "The digest that the file must have, such as sha256:HEX.", schema: ##""$ref": "#/$defs/checksum""##),
            [.download(downloadChecksum), .upload(uploadChecksum)]
        ) { (decoder, draft) throws(JSONFault) in
            let checksum = try ChecksumDecoder.read(&decoder)
            draft.rules.download.checksum = checksum
            draft.rules.upload.checksum = checksum
        },
        // The canonical text has the digest that the list contained.
        JobField(
            "checksums", .defaults, .downloads,
            FieldNote(
                "A list of checksums, as a file or a URL, in which the download is looked up. Its format is that of "
                    + "sha256sum, openssl and similar tools. A download that is not in the list is refused, unless "
                    + "something else proves it. The value false switches the list off.",
                schema: ##""anyOf": [{ "$ref": "#/$defs/path" }, { "enum": [false] }]"##),
            [], unset: { $0.checksums = nil }
        ) { (decoder, draft) throws(JSONFault) in
            draft.namesChecksums = true
            guard try decoder.reader.kind() == .boolean else {
                draft.rules.checksums = try ChecksumDecoder.list(&decoder)
                return
            }
            let start = decoder.reader.offset
            draft.rules.checksums = nil
            if try decoder.boolean() == true {
                decoder.note("name a list of checksums, or write false for none", start..<start + 4)
            }
        },
        JobField(download: PieceFields.pieces, []),
        JobField(download: PieceFields.size, []),
        JobField(
            "needs", [], .all,
            FieldNote(
                "The IDs of jobs that must be complete before this job starts.",
                schema: #""type": "array", "uniqueItems": true, "items": { "type": "string", "minLength": 1 }"#),
            [.turn(needs)]
        ) { (decoder, draft) throws(JSONFault) in try draft.readNeeds(&decoder) },
        JobField(
            "priority", [.defaults, .watch], .all,
            FieldNote(
                "The priority of the job; a higher number goes first.",
                schema: FieldCodec.integer(FieldRanges.priorities).schema, standard: "0"),
            [.turn(priority)], unset: { $0.priority = 0 }
        ) { (decoder, draft) throws(JSONFault) in
            draft.rules.priority = try decoder.integer(FieldRanges.priorities) ?? 0
        },
        JobField(
            download: Field(
                "segments", \.segments, .segments, standard: .automatic,
                "The number of connections for one file, or \"auto\". With \"auto\", connections are added while they "
                    + "increase the throughput. Files under 4 MiB get one, and the source of a copy gets at most 8."
            )),
        JobField(
            download: Field(
                "compressed", \.compressed, .boolean, standard: false,
                "Whether the server may compress a download in transit. The file is stored decoded, and digests and "
                    + "sizes are those of the decoded file. Such a download gets one connection, and starts again "
                    + "after each interruption.")),
        JobField(
            download: Field(
                "ifExists", \.ifExists, .word, standard: .verify, "The action when the file exists already.")),
        JobField(
            download: Field(
                "adopt", \.adopt, .word, standard: .proven,
                "Whether the download continues a partial file of another tool. Such a file is at the destination, or "
                    + "beside it as NAME.part. It is continued where a checksum or pieces decide (proven), also where "
                    + "nothing decides (unproven), or never."
            )),
        JobField(
            download: Field(
                "strict", \.strict, .boolean, standard: false,
                "Whether a download fails without proof that it is whole. Such a download has no checksum, and only "
                    + "the end of the connection marks its length. With true, no partial file is adopted without "
                    + "proof.")),
        JobField(
            download: Field(
                "remoteTime", \.remoteTime, .boolean, standard: true,
                "Whether the file gets the time that the server reports.")),
        JobField(
            upload: Field(
                "protocol", \.uploadProtocol, .word, standard: .put,
                identity: .custom { $0.add($1.uploadProtocol.rawValue) },
                "The protocol of an upload. The value multipart is a form with the file, tus is tus 1.0, and resumable "
                    + "is the IETF draft Resumable Uploads for HTTP. The values s3, ftp and sftp have URLs of their "
                    + "own, and follow from them."
            )),
        JobField(
            "method", .watch, .downloadsAndSomeUploads,
            FieldNote("The method of the request.", schema: FieldCodec<String>.method.schema),
            [.download(downloadMethod), .upload(uploadMethod)]
        ) { (decoder, draft) throws(JSONFault) in
            let method = try decoder.string(HeaderRule.refusal(ofMethod:))
            draft.rules.download.method = method
            draft.rules.upload.method = method
        },
        JobField(
            download: Field(
                "body", \.body, .anyText, identity: .custom { $0.add($1.body ?? "") },
                "The body of a download's request."
            ), []),
    ]

    private static let urls = FieldOutput<JobSpec.Download>("download") { hash, download in
        for url in download.urls { hash.add(Redaction.url(url)) }
    } write: { writer, download in
        writer.key("download")
        if download.urls.count == 1 { writer.string(download.urls[0]) } else { download.urls.write(to: &writer) }
    }

    private static let destination = FieldOutput<JobSpec.Download>("to") {
        $0.add($1.destination)
    } write: { writer, download in
        writer.key("to")
        writer.string(download.destination)
    }

    private static let url = FieldOutput<JobSpec.Upload>("to") {
        $0.add(Redaction.url($1.url))
    } write: { writer, upload in
        writer.key("to")
        writer.string(upload.url)
    }

    private static let downloadChecksum = FieldOutput<JobSpec.Download>(
        "checksum", \.checksum, .checksum, identity: .custom { $0.add($1.checksum?.description ?? "") })

    private static let uploadChecksum = FieldOutput<JobSpec.Upload>(
        "checksum", \.checksum, .checksum,
        identity: .custom { hash, upload in
            if let checksum = upload.checksum { hash.add(checksum.description) }
        })

    private static let needs = FieldOutput<JobSpec>("needs") { writer, spec in
        guard !spec.needs.isEmpty else { return }
        writer.key("needs")
        spec.needs.write(to: &writer)
    }

    private static let priority = FieldOutput<JobSpec>(
        "priority", \.priority, .integer(FieldRanges.priorities), standard: 0)

    private static let downloadMethod = FieldOutput<JobSpec.Download>(
        "method", \.method, .method, identity: .custom { $0.add($1.method ?? "") })

    private static let uploadMethod = FieldOutput<JobSpec.Upload>(
        "method", \.method, .method, identity: .custom { $0.add($1.method ?? "") })
}
