extension TestServer {
    /// Answers the paths of httpbin as httpbin 0.10 does, and those of this list that it doesn't have:
    /// `/chunked/N` (N chunks of ten bytes), `/payloads/N` and `/download/N` (N bytes, the latter as an attachment with a
    /// validator and ranges).
    ///
    /// Different on purpose: what is random there is the same on every call here (`/bytes/N?seed=S` depends on both), sizes
    /// have no upper limit, ETags carry the quotes that RFC 9110, section 8.8.3 asks for, and `/delay/N` doesn't count
    /// seconds: its head is held until the client leaves or ``release(_:)``.
    ///
    /// A handler or script added later wins over these, and a path that httpbin doesn't have stays free.
    public func serveHTTPBin() {
        let authority = url("")
        let routes =
            HTTPBinEchoRoutes.all + HTTPBinStatusRoutes.all + HTTPBinAuthenticationRoutes.all + HTTPBinBodyRoutes.all
            + HTTPBinFormatRoutes.all + HTTPBinCookieRoutes.all + HTTPBinCacheRoutes.all
        for (name, routes) in Dictionary(grouping: routes, by: \.firstPart) {
            let router = HTTPBinRouter(routes: routes, origin: HTTPBinRouter.address(of: authority))
            for pattern in ["/\(name)", "/\(name)/*"] { handle(pattern, router.answer) }
        }
    }
}
