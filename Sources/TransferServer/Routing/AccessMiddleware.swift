import HTTPTypes
import Hummingbird
import Logging
import TransferQueue

/// The middleware that checks each request first: the host name, the origin of its page, and its secret. It also turns
/// refusals and later errors into responses.
struct AccessMiddleware: RouterMiddleware {
    let access: AccessRules
    let metrics: ServerMetrics
    let faults: FaultLog
    let connections: ConnectionRegister
    let logger: Logger

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        let start = ContinuousClock.now
        do {
            response = try await admit(request, context, next)
        } catch {
            let problem = Problem(error)
            if problem.isOfService { faults.log(problem, error, at: "\(request.method) \(request.uri.path)") }
            response = problem.response
        }
        finish(&response, request)
        metrics.count(
            route: context.endpointPath, method: request.method.rawValue, code: response.status.code,
            seconds: (ContinuousClock.now - start).inSeconds)
        return response
    }

    private func admit(
        _ request: Request, _ context: ServerContext, _ next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        // The request's own field is the first; RFC 9112 §3.2 forbids a second one.
        if let name = HTTPField.Name("Host"), request.headers[name] != nil {
            throw Problem.malformed("a request has one Host field")
        }
        let host = request.head.authority
        guard access.admits(host: host) else {
            throw Problem(
                .misdirectedRequest, "foreignHost", "this service is not known by that name",
                hint: CommandPhrases.only("behind a reverse proxy, name its origin with --allow-origin"))
        }
        let origin = request.headers[.origin]
        guard access.admits(origin: origin, host: host) else {
            logger.notice(
                "refused a page of \(origin ?? "")\(CommandPhrases.only("; --allow-origin '\(origin ?? "")' lets it in"))"
            )
            throw Problem.forbidden(
                "foreignOrigin", "pages of \(origin ?? "") may not ask",
                hint: CommandPhrases.only("--allow-origin '\(origin ?? "")' lets them"))
        }
        let (site, mode) = (request.headers[.secFetchSite], request.headers[.secFetchMode])
        guard !access.isForeign(site: site, mode: mode, origin: origin) else {
            logger.notice("refused a request that a page of another site had caused")
            throw Problem.forbidden("foreignOrigin", "pages of other sites may not ask")
        }
        if request.method == .options, let origin, access.isNamed(origin) { return preflight }
        var context = context
        context.level = access.level(authorization: request.headers[.authorization])
        if context.level > .unauthenticated { connections.trust(context.channel) }
        return try await next(request, context)
    }

    private var preflight: Response {
        var headers: HTTPFields = [:]
        headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE"
        headers[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
        headers[.accessControlMaxAge] = "600"
        return Response(status: .noContent, headers: headers)
    }

    private func finish(_ response: inout Response, _ request: Request) {
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        guard let origin = request.headers[.origin], access.isNamed(origin) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.vary] = "Origin"
    }
}

/// The middleware that requires a right: to read for methods that only read, and to change for all others.
struct RightsCheck: RouterMiddleware {
    let wrongSecrets: WrongSecrets
    let connections: ConnectionRegister

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let needed: AccessRules.Level = request.method == .get || request.method == .head ? .reader : .owner
        guard context.level >= needed else {
            guard context.level == .unauthenticated else {
                throw Problem.forbidden("readOnly", "this secret is for looking only")
            }
            let hasShown = request.headers[.authorization] != nil
            if hasShown {
                // The delay holds no place against other clients.
                connections.isSilent(context.channel)
                await wrongSecrets.delay()
            }
            throw Problem.unauthorized(hasShown: hasShown)
        }
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = Self("Sec-Fetch-Site")
    fileprivate static let secFetchMode = Self("Sec-Fetch-Mode")
}

extension HTTPFields {
    /// The value of a field whose name may not be valid.
    fileprivate subscript(_ name: HTTPField.Name?) -> String? { name.flatMap { self[$0] } }
}
