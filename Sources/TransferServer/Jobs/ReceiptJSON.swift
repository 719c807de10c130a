import TransferQueue

/// Receipts as the answers have them.
enum ReceiptJSON {
    static func write(_ writer: inout CanonicalWriter, _ receipt: JobReceipt, isOwner: Bool) {
        writer.member("direction", receipt.isUpload ? "upload" : "download")
        writer.member("bytes", receipt.bytes)
        writer.member("transferred", receipt.transferred)
        let seconds = receipt.seconds.isFinite ? min(max(0, receipt.seconds), 1e12) : 0
        writer.member("seconds", Duration.milliseconds(Int64((seconds * 1000).rounded())))
        writer.member("digest", receipt.digest?.description)
        writer.member("unproven", receipt.unproven)
        if receipt.isLengthUnproven { writer.member("lengthUnproven", true) }
        writer.member("validator", receipt.validator)
        writer.member("finalURL", JobJSON.shown(receipt.finalURL, isOwner))
        writer.member("path", receipt.path)
        writer.member("status", receipt.status)
        writer.member("response", receipt.response)
        writer.member("attempts", receipt.attempts)
        if !receipt.proofs.isEmpty { writer.member("proofs", receipt.proofs.map(\.rawValue)) }
        SourceJSON.write(&writer, receipt.sources)
    }
}

/// The sources of a download that has several.
enum SourceJSON {
    static func write(_ writer: inout CanonicalWriter, _ sources: [JobSource]) {
        guard !sources.isEmpty else { return }
        writer.member("sources", objects: sources) { writer, source in
            writer.member("url", source.url)
            writer.member("connections", source.connections)
            writer.member("bytes", source.bytes)
            writer.member("rate", source.rate)
            writer.member("state", source.state.rawValue)
            writer.member("cause", source.fault?.cause.rawValue)
            writer.member("reason", source.fault?.message)
        }
    }
}
