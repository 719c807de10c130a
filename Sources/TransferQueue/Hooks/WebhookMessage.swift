import TransferCore
import TransferCrypto
import TransferJobs
import TransferUpload

/// The request by which a webhook is told, as Standard Webhooks has it (github.com/standard-webhooks, spec 1.0): its ID,
/// the time, and HMAC-SHA-256 over both and the body.
struct WebhookMessage {
    let url: String
    /// `nil` where nothing is signed.
    let key: [UInt8]?

    /// - Throws: `secretMissing` for what can't be read, `badURL` for a URL that isn't one of HTTP.
    init(_ hook: FinishHook.Webhook, _ secrets: SecretSource) throws(TransferError) {
        url = try secrets.read(hook.url)
        if let refusal = URLRule.refusal(of: url, schemes: ["https", "http"]), !refusal.isSecret {
            throw TransferError(.badURL, "the URL of the webhook: \(refusal.message)")
        }
        key = try hook.secret.map { text throws(TransferError) in try Self.key(secrets.read(text)) }
    }

    /// Behind `whsec_` it's base64; any other text is the key itself.
    private static func key(_ text: String) throws(TransferError) -> [UInt8] {
        let mark = "whsec_"
        guard text.hasPrefix(mark) else { return Array(text.utf8) }
        guard let key = Base64.decode(text.dropFirst(mark.utf8.count)), !key.isEmpty else {
            throw TransferError(.secretMissing, "the webhook's secret begins with whsec_, but isn't base64 behind it")
        }
        return key
    }

    /// - Parameter now: Seconds since 1970.
    func request(id: String, body: String, now: Int64) throws(TransferError) -> UploadRequest {
        var headers = [
            HeaderField("Content-Type", "application/json"), HeaderField("webhook-id", id),
            HeaderField("webhook-timestamp", "\(now)"),
        ]
        if let key {
            let code = try MessageAuthentication.sha256(Array("\(id).\(now).\(body)".utf8), key: key)
            headers.append(HeaderField("webhook-signature", "v1,\(Base64.encode(code))"))
        }
        return UploadRequest(
            id: 1, method: "POST", url: url, headers: headers, body: .bytes(Array(body.utf8)), ownersFields: .all,
            followsRedirects: false)
    }
}
