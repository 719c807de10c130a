extension TestServer {
    /// Answers the paths of httpbin 0.10 in the same way. It adds `/chunked/N` (N chunks of ten bytes), `/payloads/N`
    /// and `/download/N`. The last two have N bytes; the latter is an attachment with a validator and ranges.
    ///
    /// Some differences are intended. Random data is the same on every call (`/bytes/N?seed=S` depends on both
    /// numbers), and sizes have no upper limit. ETags have the quotes that RFC 9110, section 8.8.3 requires. The head
    /// of `/delay/N` is held until the client disconnects or ``release(_:)`` is called, instead of for a number of
    /// seconds.
    ///
    /// A handler or script added later takes precedence, and paths unknown to httpbin stay free.
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
