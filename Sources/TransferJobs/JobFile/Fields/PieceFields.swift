package import TransferCore

/// The key `pieces` and those of its object, and the key `size`.
package enum PieceFields {
    package static let size = Field<JobSpec.Download>(
        "size", \.size, .fileSize, identity: .counted,
        "The size that a download's file must have, in bytes. A download of another size fails.")

    package static let pieces = Field<JobSpec.Download>(
        FieldNote(
            "The digests of all pieces of a download, with which the whole file is compared. Of a partial file of "
                + "another tool, the pieces that match are kept.",
            keys.note("pieces")),
        FieldOutput("pieces") { hash, download in
            guard let pieces = download.pieces else { return }
            hash.add("pieces \(pieces.length)")
            for digest in pieces.digests { hash.add(digest.description) }
        } write: { writer, download in
            guard let pieces = download.pieces else { return }
            writer.key("pieces")
            keys.write(&writer, Draft(length: pieces.length, digests: pieces.digests))
        }
    ) { (decoder, download) throws(JSONFault) in download.pieces = try ChecksumDecoder.pieces(&decoder) }

    /// The values of a `pieces` while its keys are read.
    package struct Draft: Sendable {
        package var length: Int64?
        package var digests: [Checksum] = []
    }

    package static let keys = ObjectFields<Draft>(
        [
            Field("length", \.length, .pieceLength, "The number of bytes of a piece; the last piece has the rest."),
            Field(always: "digests", \.digests, .digests, "The digest of each piece, all by one algorithm."),
        ],
        schema: #""required": ["length", "digests"]"#)
}

extension FieldCodec<Int64> {
    fileprivate static var pieceLength: Self {
        Self(schema: ##""$ref": "#/$defs/size""##) { decoder throws(JSONFault) in
            try decoder.byteCount()
        } write: {
            $0.integer(Int($1))
        }
    }
}

extension FieldCodec<[Checksum]> {
    fileprivate static var digests: Self {
        Self(
            schema: ##""type": "array", "minItems": 1, "items": { "$ref": "#/$defs/checksum" }"##
        ) { decoder throws(JSONFault) in
            var digests: [Checksum] = []
            _ = try decoder.array("an array of checksums") { (decoder) throws(JSONFault) in
                if let digest = try ChecksumDecoder.read(&decoder) { digests.append(digest) }
            }
            return digests
        } write: {
            $0.array($1) { $0.string($1.description) }
        }
    }
}

extension FieldCodec<Int64> {
    fileprivate static var fileSize: Self {
        Self(schema: #""type": "integer", "minimum": 0"#) { decoder throws(JSONFault) in
            try decoder.integer(0...Int.max).map { Int64($0) }
        } write: {
            $0.integer(Int($1))
        }
    }
}
