import HTTPTypes
import Hummingbird
import NIOCore

/// The route of the page: one file, whose script and style carry a nonce that is new for each response (CSP 3
/// §6.7.3.3). No script of another origin ever runs in it.
struct PageRoute: Sendable {
    /// The file, split at the places of the nonce.
    private static let parts = String(decoding: PackageResources.page_html, as: UTF8.self)
        .split(separator: "NONCE", omittingEmptySubsequences: false).map(String.init)

    func add(to router: Router<ServerContext>) {
        router.get("/") { _, _ -> Response in
            let nonce =
                String(UInt64.random(in: .min ... .max), radix: 16)
                + String(UInt64.random(in: .min ... .max), radix: 16)
            let policy =
                "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; "
                + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            return .plain(
                type: "text/html; charset=utf-8",
                headers: [.contentSecurityPolicy: policy, .referrerPolicy: "no-referrer"],
                bytes: Array(Self.parts.joined(separator: nonce).utf8))
        }
    }
}

/// The route of the API's description (OpenAPI 3.1), for programs.
struct DescriptionRoute: Sendable {
    func add(to router: Router<ServerContext>) {
        router.get("openapi.json") { _, _ in Response.json(bytes: PackageResources.openapi_json) }
    }
}

extension HTTPField.Name {
    fileprivate static var referrerPolicy: Self {
        // A name of letters and a hyphen is always valid.
        Self("Referrer-Policy") ?? .contentSecurityPolicy
    }
}
