! Output in Fortran about the bytes of a packet, compiled for HPUs and for the machine of the test.
module list
    use, intrinsic :: iso_c_binding
    implicit none
contains
    subroutine write_all(bytes)
        integer(c_int8_t), intent(in) :: bytes(:)
        integer(c_int32_t) :: total
        integer :: i
        total = sum(iand(int(bytes, c_int32_t), 255))
        write (*, *) 'packet of', size(bytes), 'bytes, sum', total, total > 1000
        write (*, *) 'text', 'and text', 1, 'and', .false., 'end'
        write (*, *)
        print *, bytes(1:6), int(bytes(1:3), c_int16_t), int(bytes(1:3), c_int64_t)*5000000000_8
        write (*, *) bytes(14:1:-5), reshape([(i, i=1, 6)], [2, 3]), [(i > 2, i=1, 4)]
        write (*, *) real(total), real(total)/3, 1/real(total), total*1e5, total*1e-9, -real(total)
        write (*, *) dble(total), dble(total)/3, 1/dble(total), total*1d13, total*1d14, total*1d-200
        write (*, *) 0.0, -0.0, 0d0, 0.1, 0.09999999, 0.0999999999, 9.99999999, 999999999.0, 99999999.0
        write (*, *) [1.5, real(total)], [1d0/total], cmplx(total, -1), huge(1.0)*real(total), -huge(1d0)*total
        write (*, *) ['ab ', 'cde'], huge(1), -huge(1) - 1, huge(1_8), sqrt(-real(total))
    end subroutine
end module
