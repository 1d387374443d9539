! A handler in Fortran: writes about each packet.
module fortran
    use list
    use spin
contains
    subroutine fortran_ph(args) bind(c)
        type(handler_args), intent(in) :: args
        call write_all(packet(args))
    end subroutine

    subroutine init_handlers(hh, ph, th) bind(c)
        type(c_funptr), intent(out) :: hh, ph, th
        hh = c_null_funptr
        ph = c_funloc(fortran_ph)
        th = c_null_funptr
    end subroutine
end module
