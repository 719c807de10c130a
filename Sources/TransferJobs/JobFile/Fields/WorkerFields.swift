import TransferCore

/// The key `worker`: the condition that a worker sharing the queue must meet to run the job.
package enum WorkerFields {
    package static let all = ObjectFields<WorkerRule>([
        Field("tags", \.tags, tags, standard: .none, "The tags that a worker must have, all of them.")
    ])

    private static let tags = FieldCodec<WorkerTags>(
        schema: #""type": "array", "maxItems": \#(WorkerTags.most), "#
            + #""items": { "type": "string", "pattern": "^[a-z0-9._-]{1,64}$" }"#
    ) { decoder throws(JSONFault) in
        var names: [String] = []
        let start = decoder.reader.offset
        _ = try decoder.array("an array of tags") { (decoder) throws(JSONFault) in
            if let name = try decoder.string(WorkerTags.refusal(of:)) { names.append(name) }
        }
        guard names.count <= WorkerTags.most else {
            decoder.note("a job has \(WorkerTags.most) tags at most", start..<start + 1)
            return nil
        }
        return WorkerTags(names)
    } write: { writer, tags in
        tags.names.write(to: &writer)
    }
}
